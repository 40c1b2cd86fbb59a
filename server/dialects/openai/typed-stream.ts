import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import type { StreamMeter, StreamSignal } from '../dialect.ts'

/** An image of OpenAI's, and one of a series at Volcengine (their API references, "image streaming"). */
const wholeImage = /^image_(?:generation|edit)\.(?:completed|partial_succeeded)$/

/**
 * Follows a stream of typed events: transcription (`transcript.text.delta` … `.done`), speech (`speech.audio.…`) and
 * image generation (`image_generation.partial_image` … `.completed`) of the OpenAI API reference. The last event carries
 * the usage; some services send `[DONE]` after it.
 */
export class TypedEventMeter implements StreamMeter {
  readonly endMark = ''
  usage: JsonObject | undefined
  error: JsonObject | undefined
  pieces = 0
  characters = 0
  images = 0
  finished = false
  #parts: string[] = []

  output(): string {
    return this.#parts.join('')
  }

  skim(_text: string, from: number): number {
    return from
  }

  feed(data: string): StreamSignal {
    if (data.trim() === '[DONE]') return 'done'
    const event = tryParse(data)
    if (!isObject(event)) return data.trim() === '' ? 'content' : 'garbage'
    const type = typeof event['type'] === 'string' ? event['type'] : ''
    if (type === 'error' || (isObject(event['error']) && type === '')) {
      this.error = isObject(event['error']) ? event['error'] : event
      return 'error'
    }
    if (isObject(event['usage'])) this.usage = event['usage']
    if (/\.(done|completed)$/.test(type)) this.finished = true
    if (wholeImage.test(type)) this.images++
    if (typeof event['delta'] === 'string') {
      this.#parts.push(event['delta'])
      this.characters += event['delta'].length
      this.pieces++
    }
    return 'content'
  }
}
