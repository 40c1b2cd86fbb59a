import type { DialectName } from '../../dialects/neutral/conversation.ts'
import type { StreamEncoder } from '../../dialects/neutral/dialect.ts'
import type { StreamEvent } from '../../dialects/neutral/reply.ts'
import { sseData } from '../../lib/bytes/sse.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import { MessageBlocks } from './message-blocks.ts'
import { ResponseItems } from './response-items.ts'
import type { Told } from './told.ts'

/**
 * Remembers the ids and indexes in a stream that is passed on unchanged. If another attempt continues the stream, the
 * gateway encodes the events of that attempt itself. It uses the same ids and continues the indexes.
 */
export interface PassedNames {
  /** Reads the data of an event that is passed on. */
  note(data: string): void
  /**
   * Reads an event that the gateway's encoder writes for the stream. It is not sent, because the stream is passed on
   * unchanged.
   */
  shadow(event: JsonObject): void
  /** True if a part has ended in the stream that was passed on, but not in the gateway's events. */
  readonly hasEnded: boolean
  /**
   * Returns the events to send for an event of the gateway's encoder, with the ids and indexes of the stream. Empty if
   * the caller has already received the event.
   */
  renamed(event: JsonObject): JsonObject[]
}

/** Creates the `PassedNames` of a stream in the given dialect. */
export function passedNames(dialect: DialectName): PassedNames {
  switch (dialect) {
    case 'anthropic-messages':
      return new MessageBlocks()
    case 'openai-responses':
      return new ResponseItems()
    case 'gemini':
      return new HeadNames(['responseId', 'modelVersion'])
    default:
      return new HeadNames(['id', 'created', 'model', 'system_fingerprint'])
  }
}

/** For dialects in which every event of a stream has the same ids. The ids are taken from the first event. */
class HeadNames implements PassedNames {
  readonly hasEnded = false
  readonly #fields: readonly string[]
  #names: JsonObject | undefined

  constructor(fields: readonly string[]) {
    this.#fields = fields
  }

  note(data: string): void {
    if (this.#names) return
    const event = tryParse(data)
    if (!isObject(event)) return
    const names = this.#fields.filter((field) => event[field] !== undefined)
    if (names.length > 0) this.#names = Object.fromEntries(names.map((field) => [field, event[field]]))
  }

  shadow(): void {}

  renamed(event: JsonObject): JsonObject[] {
    return ['error' in event ? event : { ...event, ...this.#names }]
  }
}

/** Writes the events that continue a stream that was passed on. */
export class FollowingEncoder implements StreamEncoder {
  readonly #inner: StreamEncoder
  readonly #names: PassedNames

  /**
   * `told` contains the events that were passed on. The constructor sends these events to `inner`, so that `inner` has
   * the same state as if it had written them.
   */
  constructor(inner: StreamEncoder, names: PassedNames, told: Told) {
    this.#inner = inner
    this.#names = names
    for (const event of told.events) this.#shadow(event)
    if (!names.hasEnded || told.open === undefined) return
    const end: StreamEvent = { type: 'part-end', choice: 0, index: told.open }
    told.take(end)
    this.#shadow(end)
  }

  #shadow(event: StreamEvent): void {
    for (const { data } of eventsIn(this.#inner.push(event))) if (data) this.#names.shadow(data)
  }

  push(event: StreamEvent): string {
    return eventsIn(this.#inner.push(event))
      .map(({ text, data }) => (data ? this.#names.renamed(data).map(written).join('') : text))
      .join('')
  }
}

/**
 * Splits the output of an encoder into events. `data` is undefined for an end marker that is not JSON. It is also
 * undefined for an error that is sent as bare JSON, because Google's libraries require that form.
 */
function eventsIn(text: string): { text: string; data: JsonObject | undefined }[] {
  if (text === '') return []
  return text
    .split('\n\n')
    .filter((each) => each !== '')
    .map((each) => {
      const data = each.startsWith('{') ? undefined : tryParse(sseData(each) ?? '')
      return { text: `${each}\n\n`, data: isObject(data) ? data : undefined }
    })
}

function written(event: JsonObject): string {
  const { type } = event
  return `${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${JSON.stringify(event)}\n\n`
}
