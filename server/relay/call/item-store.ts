import type { StreamEncoder } from '../../dialects/neutral/dialect.ts'
import { GatewayError } from '../../errors.ts'
import { sseData } from '../../lib/bytes/sse.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import type { CallBody, RelayCall } from './call.ts'
import type { Caller } from './caller.ts'

/**
 * What models of other services answered to callers of the Responses API, kept for a while: OpenAI keeps answers unless
 * it is told `store: false`, and programs name parts of them by their ids in place of sending them again.
 */
export interface ItemStore {
  keep(tokenId: number, items: readonly JsonObject[]): void
  /** An item as JSON. */
  find(tokenId: number, id: string): string | undefined
}

const keptMs = 3_600_000
/** Of all items together, where the oldest go first, and of those that one call names. */
const mostCharacters = 16_000_000

interface Kept {
  text: string
  untilMs: number
}

/** Keeps items in the memory of this process alone. */
export function createItemStore(nowMs: () => number): ItemStore {
  const items = new Map<string, Kept>()
  let characters = 0
  const drop = (key: string, { text }: Kept) => {
    items.delete(key)
    characters -= text.length
  }
  return {
    keep(tokenId, added) {
      for (const item of added) {
        const key = `${tokenId} ${String(item['id'])}`
        const text = JSON.stringify(item)
        const before = items.get(key)
        if (before) drop(key, before)
        items.set(key, { text, untilMs: nowMs() + keptMs })
        characters += text.length
      }
      // Not after each of them: what has been dropped is stepped over each time.
      for (const [oldest, kept] of items) {
        if (characters <= mostCharacters && kept.untilMs > nowMs()) break
        drop(oldest, kept)
      }
    },
    find(tokenId, id) {
      const kept = items.get(`${tokenId} ${id}`)
      return kept && kept.untilMs > nowMs() ? kept.text : undefined
    },
  }
}

/**
 * A body of the Responses API with the items themselves in the place of references to them, as far as they are kept.
 * Throws GatewayError (request_too_large): a short body could name one long item a thousand times.
 */
export function withItems(kept: ItemStore, { tokenId }: Pick<Caller, 'tokenId'>, body: CallBody): CallBody {
  const input = body.kind === 'json' ? body.json['input'] : undefined
  if (body.kind === 'form' || !Array.isArray(input)) return body
  let characters = 0
  const whole = (input as unknown[]).map((item) => {
    const text = isReference(item) ? kept.find(tokenId, String(item['id'])) : undefined
    if (text === undefined) return item
    characters += text.length
    if (characters > mostCharacters)
      throw new GatewayError('request_too_large', 'the items that input names are too large together', {
        param: 'input',
      })
    return tryParse(text)
  })
  if (whole.every((item, at) => item === input[at])) return body
  const json = { ...body.json, input: whole }
  return { ...body, json, text: JSON.stringify(json) }
}

/**
 * Throws GatewayError (400) for a reference to something said that nobody here knows. What was only thought can be left
 * out.
 */
export function refuseUnknown({ input }: JsonObject): void {
  if (!Array.isArray(input)) return
  for (const [at, item] of (input as unknown[]).entries()) {
    if (!isReference(item) || String(item['id']).startsWith('rs_')) continue
    throw new GatewayError(
      'invalid_field_value',
      `input[${at}] names an item that is not kept here any more (${String(item['id'])}): send items themselves, as with store: false`,
      { param: `input[${at}]` },
    )
  }
}

/** A reference may leave out its type. */
function isReference(item: unknown): item is JsonObject {
  if (!isObject(item) || typeof item['id'] !== 'string') return false
  return item['type'] === 'item_reference' || (item['type'] === undefined && item['role'] === undefined)
}

/** Who keeps the items of an answer; undefined where they are not to be kept. */
export function keeperOf(
  kept: ItemStore,
  { caller, dialect, body }: RelayCall,
): ((answer: JsonObject) => void) | undefined {
  const isWanted = dialect === 'openai-responses' && body.kind === 'json' && body.json['store'] !== false
  if (!isWanted) return undefined
  return ({ output }) => {
    const items = Array.isArray(output) ? (output as unknown[]).filter(isObject) : []
    kept.keep(
      caller.tokenId,
      items.filter((item) => typeof item['id'] === 'string'),
    )
  }
}

/** Keeps what a stream said once it is whole: its last event holds all of it. */
export function keepingEncoder(inner: StreamEncoder, keep: (answer: JsonObject) => void): StreamEncoder {
  return {
    push(event) {
      const text = inner.push(event)
      if (event.type === 'end') for (const block of text.split('\n\n')) keepWithin(block, keep)
      return text
    },
  }
}

function keepWithin(block: string, keep: (answer: JsonObject) => void): void {
  const last = tryParse(sseData(block) ?? '')
  if (isObject(last) && isObject(last['response'])) keep(last['response'])
}
