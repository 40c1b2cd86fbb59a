import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Secrets } from '../../lib/secrets/secrets.ts'
import { withContent } from '../body/json-body.ts'
import type { CallBody } from './call.ts'
import type { Caller } from './caller.ts'

/** Encrypts the summaries that this gateway writes, so that only the token that requested a summary can use it. */
export interface CompactionSeals {
  seal(tokenId: number, summary: string): string
  /**
   * Decrypts a summary. Undefined if no gateway with this secret key wrote the text. Throws if the summary belongs to
   * another token or was changed.
   */
  open(tokenId: number, text: string): string | undefined
}

/** Distinguishes the gateway's encrypted summaries from those of other services. */
const mark = 'tollgate.'
const contextOf = (tokenId: number) => `compaction of token ${tokenId}`

/** A summary can be decrypted only for the token for which it was encrypted. */
export function createCompactionSeals(secrets: Secrets): CompactionSeals {
  return {
    seal: (tokenId, summary) => mark + secrets.seal(summary, contextOf(tokenId)),
    open: (tokenId, text) =>
      text.startsWith(mark) ? secrets.open(text.slice(mark.length), contextOf(tokenId)) : undefined,
  }
}

/** The types that services and their clients use for a compaction item. */
const itemTypes: ReadonlySet<unknown> = new Set(['compaction', 'compaction_summary', 'context_compaction'])
const trigger = 'compaction_trigger'

/** Introduces the summary to the model that continues the conversation. */
const introduction =
  'The conversation before this point was replaced by the following summary. Continue from it, and do not repeat work that it describes as done.'

/** True for an item that replaces an earlier part of the conversation. */
function isCompaction(item: unknown): item is JsonObject {
  return isObject(item) && itemTypes.has(item['type'])
}

/**
 * A body of the Responses API in which the gateway's own compaction items are replaced by the summaries inside them, so
 * that every channel can read them. Compaction items of other services are not changed. Throws GatewayError (400) for
 * an item that this token may not use, and for a misplaced `compaction_trigger`.
 */
export function withSummaries(seals: CompactionSeals, { tokenId }: Pick<Caller, 'tokenId'>, body: CallBody): CallBody {
  // Most requests have no compaction item, and searching for the word is much cheaper than checking every item.
  if (body.kind === 'form' || !body.text.includes('compaction')) return body
  const { input } = body.json
  if (!Array.isArray(input)) return body
  let isChanged = false
  const items = (input as unknown[]).map((item, at) => {
    if (isObject(item) && item['type'] === trigger && at !== input.length - 1)
      throw new GatewayError('invalid_field_value', `${trigger} must be the last item of input, and occur once`, {
        param: `input[${at}]`,
      })
    const summary = isCompaction(item) ? opened(seals, tokenId, item['encrypted_content'], at) : undefined
    if (summary === undefined) return item
    isChanged = true
    return {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: `${introduction}\n\n${summary}` }],
    }
  })
  if (!isChanged) return body
  const json = { ...body.json, input: items }
  return withContent(body, { json, text: JSON.stringify(json) })
}

function opened(seals: CompactionSeals, tokenId: number, sealed: unknown, at: number): string | undefined {
  if (typeof sealed !== 'string') return undefined
  try {
    return seals.open(tokenId, sealed)
  } catch (error) {
    throw new GatewayError(
      'invalid_field_value',
      `input[${at}] is a compaction item that was made for another token, or that has been changed: send the conversation itself`,
      { param: `input[${at}]`, cause: error },
    )
  }
}

/** True if the input ends with a request to compact the rest of the input. */
export function asksToCompact(body: CallBody): boolean {
  if (body.kind === 'form') return false
  const { input } = body.json
  const last: unknown = Array.isArray(input) ? input.at(-1) : undefined
  return isObject(last) && last['type'] === trigger
}

/** The position of the first item that another service wrote in place of an earlier part of the conversation. */
export function foreignCompaction({ input }: JsonObject): number | undefined {
  const at = Array.isArray(input) ? (input as unknown[]).findIndex(isCompaction) : -1
  return at < 0 ? undefined : at
}
