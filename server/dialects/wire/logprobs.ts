import type { JsonObject } from '../../lib/json.ts'
import { looseList, looseText } from '../neutral/fields.ts'

/** The log probability of a token. */
export interface Logprob {
  token: string
  logprob: number
  bytes: number[]
}

/** A token's log probability with all fields of OpenAI's two dialects. Some services omit `bytes` and other fields. */
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
