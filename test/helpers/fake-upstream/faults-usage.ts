import { ok, type StreamOptions } from './chat.ts'
import type { Behaviour, JsonObject } from './types.ts'

/** Implausible usage values, by name. Use `ok({ usage })` to send other values. */
export const WRONG_USAGE = {
  negative: { prompt_tokens: 10, completion_tokens: -50, total_tokens: -40 },
  negativePrompt: { prompt_tokens: -1_000_000, completion_tokens: 5, total_tokens: -999_995 },
  absurd: { prompt_tokens: 9_007_199_254_740_991, completion_tokens: 1e15, total_tokens: 1e18 },
  notANumber: { prompt_tokens: null, completion_tokens: 'NaN', total_tokens: {} },
  fractional: { prompt_tokens: 10.5, completion_tokens: 4.25, total_tokens: 14.75 },
  strings: { prompt_tokens: '10', completion_tokens: '5', total_tokens: '15' },
  zero: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  partial: { total_tokens: 15 },
  array: { prompt_tokens: [10], completion_tokens: [5], total_tokens: [15] },
} satisfies { readonly [name: string]: JsonObject }

/** A good response (plain or streamed, as requested) that reports this usage. */
export function wrongUsage(kind: keyof typeof WRONG_USAGE, options: StreamOptions = {}): Behaviour {
  return { ...ok({ usageChunk: 'always', ...options, usage: WRONG_USAGE[kind] }), name: `wrongUsage ${kind}` }
}

/** A good response that reports no usage, although the request asks for it. */
export function missingUsage(options: StreamOptions = {}): Behaviour {
  return { ...ok({ ...options, usage: null }), name: 'missingUsage' }
}

/** A stream that sends its usage chunk twice. The usage must be charged only once. */
export function duplicateUsage(options: StreamOptions = {}): Behaviour {
  return { ...ok({ ...options, usageChunk: 'twice' }), name: 'duplicateUsage' }
}

/** A stream with usage in every chunk. The gateway must use the last value, not the sum. */
export function runningUsage(options: StreamOptions = {}): Behaviour {
  return { ...ok({ ...options, usageChunk: 'every' }), name: 'runningUsage' }
}

/** Responds with this many words, whatever max_tokens says, and reports the number of words as usage. */
export function ignoresMaxTokens(words: number): Behaviour {
  return {
    ...ok({ chunks: words, text: 'word '.repeat(words).trim(), ignoreMaxTokens: true }),
    name: 'ignoresMaxTokens',
  }
}
