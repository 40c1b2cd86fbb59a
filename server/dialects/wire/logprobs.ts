import type { JsonObject } from '../../lib/json.ts'
import { looseList, looseText } from '../neutral/fields.ts'

/** The log probability of a token. */
export interface Logprob {
  token: string
  logprob: number
  bytes: number[]
}

/**
 * Converts a token's log probability to the form with all fields of OpenAI's two dialects. Missing fields are added,
 * because some services omit `bytes` and others.
 */
export function wholeLogprob(entry: JsonObject): Logprob & { top_logprobs: Logprob[] } {
  return { ...one(entry), top_logprobs: looseList(entry['top_logprobs']).map(one) }
}

function one({ token, logprob, bytes }: JsonObject): Logprob {
  const text = looseText(token)
  return {
    token: text,
    logprob: typeof logprob === 'number' ? logprob : 0,
    bytes: Array.isArray(bytes) ? (bytes as number[]) : [...Buffer.from(text)],
  }
}
