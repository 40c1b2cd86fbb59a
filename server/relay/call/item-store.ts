import type { StreamEncoder } from '../../dialects/neutral/dialect.ts'
import { GatewayError } from '../../errors.ts'
import { sseData } from '../../lib/bytes/sse.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import { withContent } from '../body/json-body.ts'
import type { CallBody, RelayCall } from './call.ts'
import type { Caller } from './caller.ts'

/**
 * Stores the items of responses for an hour, for callers of the Responses API whose calls are served by services other
 * than OpenAI. OpenAI itself stores responses unless the request sets `store: false`, so clients refer to items by id
 * instead of sending them again.
 */
export interface ItemStore {
  keep(tokenId: number, items: readonly JsonObject[]): void
  /** Returns an item as JSON. */
  find(tokenId: number, id: string): string | undefined
}

const keptMs = 3_600_000
/**
 * The maximum length, in characters, of all stored items together and of the items that one call references. If the
 * stored items exceed it, the oldest are dropped.
 */
const mostCharacters = 16_000_000

interface Kept {
  text: string
  untilMs: number
}

/** Keeps items only in this process's memory. */
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
      // This loop runs once after all items, not after each item, because every new iteration of a Map visits its
      // deleted entries again.
      for (const [oldest, item] of items) {
        if (characters <= mostCharacters && item.untilMs > nowMs()) break
        drop(oldest, item)
      }
    },
    find(tokenId, id) {
      const item = items.get(`${tokenId} ${id}`)
      return item && item.untilMs > nowMs() ? item.text : undefined
    },
  }
}

/**
 * A body of the Responses API in which references are replaced by the items themselves, if these are still stored.
 * Throws GatewayError (request_too_large) if the items are too long together, because a short body could reference one
 * long item a thousand times.
 */
export function withItems(store: ItemStore, { tokenId }: Pick<Caller, 'tokenId'>, body: CallBody): CallBody {
  const input = body.kind === 'json' ? body.json['input'] : undefined
  if (body.kind === 'form' || !Array.isArray(input)) return body
  let characters = 0
  const whole = (input as unknown[]).map((item) => {
    const text = isReference(item) ? store.find(tokenId, String(item['id'])) : undefined
    if (text === undefined) return item
    characters += text.length
    if (characters > mostCharacters)
      throw new GatewayError('request_too_large', 'the items that input refers to are too large in total', {
        param: 'input',
      })
    return tryParse(text)
  })
  if (whole.every((item, at) => item === input[at])) return body
  const json = { ...body.json, input: whole }
  return withContent(body, { json, text: JSON.stringify(json) })
}

/**
 * Throws GatewayError (400) for a reference to an item that this gateway does not store. References to reasoning
 * (`rs_`) are accepted, because reasoning can be dropped.
 */
export function refuseUnknown({ input }: JsonObject): void {
  if (!Array.isArray(input)) return
  for (const [at, item] of (input as unknown[]).entries()) {
    if (!isReference(item) || String(item['id']).startsWith('rs_')) continue
    throw new GatewayError(
      'invalid_field_value',
      `input[${at}] refers to an item that is no longer stored here (${String(item['id'])}): send the items themselves, as with store: false`,
      { param: `input[${at}]` },
    )
  }
}

/** The `type` of a reference is optional. */
function isReference(item: unknown): item is JsonObject {
  if (!isObject(item) || typeof item['id'] !== 'string') return false
  return item['type'] === 'item_reference' || (item['type'] === undefined && item['role'] === undefined)
}

/** Returns the function that stores the items of a response; undefined if they must not be stored. */
export function keeperOf(
  store: ItemStore,
  { caller, dialect, state: { body } }: RelayCall,
): ((answer: JsonObject) => void) | undefined {
  const isWanted = dialect === 'openai-responses' && body.kind === 'json' && body.json['store'] !== false
  if (!isWanted) return undefined
  return ({ output }) => {
    const items = Array.isArray(output) ? (output as unknown[]).filter(isObject) : []
    store.keep(
      caller.tokenId,
      items.filter((item) => typeof item['id'] === 'string'),
    )
  }
}

/** Stores a streamed response once it is complete. The last event contains the whole response. */
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
