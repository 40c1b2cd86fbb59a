import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import { UnreadableEvents } from '../damaged-events/unreadable-events.ts'
import { flatError } from '../failures/flat-error.ts'
import { laterRawReport } from '../metering/later-usage.ts'
import type { StreamMeter, StreamSignal } from '../neutral/dialect.ts'

/**
 * Meters a stream of typed events: transcription (`transcript.text.delta` … `.done`), speech (`speech.audio.…`) and
 * image generation (`image_generation.partial_image` … `.completed`) of the OpenAI API reference. The last event
 * contains the usage, and some services send `[DONE]` after it. In OpenAI's streams, each image has its own `completed`
 * event. In Volcengine's streams, each image has a `partial_succeeded` event, and one `completed` event without an
 * image ends the stream.
 */
export class TypedEventMeter implements StreamMeter {
  readonly endMark = ''
  usage: JsonObject | undefined
  error: JsonObject | undefined
  pieces = 0
  characters = 0
  extraBytes = 0
  images = 0
  tellsImages = true
  finished = false
  readonly #imagesRequested: number
  readonly #unreadable = new UnreadableEvents()
  #parts: string[] = []

  constructor(imagesRequested = 1) {
    this.#imagesRequested = imagesRequested
  }

  get leftOut(): number {
    return this.#unreadable.count
  }

  output(): string {
    return this.#parts.join('')
  }

  skim(_text: string, from: number): number {
    return from
  }

  feed(data: string): StreamSignal {
    if (data.trim() === '[DONE]') return this.#unreadable.hasGap && !this.finished ? 'garbage' : 'done'
    const event = tryParse(data)
    if (!isObject(event)) {
      if (data.trim() === '') return 'content'
      return this.#unreadable.mayLeaveOut(data, {}) ? 'skip' : 'garbage'
    }
    this.#unreadable.noteRead()
    const type = typeof event['type'] === 'string' ? event['type'] : ''
    const error = errorIn(event, type)
    if (error) {
      this.error = error
      return 'error'
    }
    if (isObject(event['usage'])) this.usage = laterRawReport(this.usage, event['usage'])
    if (!type.startsWith('image_')) this.tellsImages = false
    const isLast = /\.(done|completed)$/.test(type)
    const isImage = type.endsWith('.partial_succeeded') || (isLast && hasImage(event))
    if (isImage) this.images++
    if (isLast && (!isImage || this.images >= this.#imagesRequested)) this.finished = true
    this.#add(event['delta'])
    // The last event repeats the whole text and may be the only event with text.
    if (isLast && typeof event['text'] === 'string') this.#add(event['text'].slice(this.characters))
    return 'content'
  }

  #add(text: unknown): void {
    if (typeof text !== 'string' || text === '') return
    this.#parts.push(text)
    this.characters += text.length
    this.extraBytes += Buffer.byteLength(text) - text.length
    this.pieces++
  }
}

/** The error in an event; undefined if there is none. Event types with a dot belong to an answer and are not errors. */
function errorIn(event: JsonObject, type: string): JsonObject | undefined {
  if (type.includes('.')) return undefined
  const { error } = event
  if (isObject(error)) return error
  return type === 'error' ? event : flatError(event)
}

function hasImage(event: JsonObject): boolean {
  return typeof event['b64_json'] === 'string' || typeof event['url'] === 'string'
}
