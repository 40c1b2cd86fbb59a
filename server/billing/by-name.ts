/** Prices derived only from a model's name, for models without an entry in a price table. */
import { type PriceBasis, quotaOne } from './price.ts'
import type { PriceSet } from './price-lines.ts'

/** The completion ratios in millionths. The first matching pattern applies. */
const completionRules: readonly (readonly [pattern: RegExp, millionths: bigint])[] = [
  [/^gpt-3\.5.*0125|^gpt-3\.5-turbo$/, 3_000_000n],
  [/^gpt-3\.5.*1106/, 2_000_000n],
  [/^gpt-3\.5/, 1_333_333n],
  [/^gpt-4o-2024-05-13|^chatgpt-4o-latest$/, 3_000_000n],
  [/^gpt-4o|^gpt-4\.1/, 4_000_000n],
  [/^gpt-4-turbo|^gpt-4.*preview$/, 3_000_000n],
  [/^gpt-4/, 2_000_000n],
  [/^gpt-5\.[4-9]|^gpt-[6-9]/, 6_000_000n],
  [/^gpt-5/, 8_000_000n],
  [/^o[134](?:-|$)/, 4_000_000n],
  [/^claude-(?:instant|2|v1)/, 3_000_000n],
  [/^claude-/, 5_000_000n],
  [/^mistral-/, 3_000_000n],
  [/^gemini-1/, 4_000_000n],
  [/^gemini-/, 8_000_000n],
  [/^deepseek-/, 2_000_000n],
  [/^command-r-plus/, 5_000_000n],
  [/^command-r/, 3_000_000n],
  [/^command/, 2_000_000n],
  [/^grok-/, 5_000_000n],
  [/^(?:whisper|tts-|dall-e)/, 0n],
]

/**
 * The price of a completion token relative to a prompt token, derived from the name of the model, in millionths; 1 if
 * no rule matches. These are one-api's rules with corrections for o3-mini and similar models, for grok, and for later
 * Claude and Gemini models.
 */
function completionRatioByName(model: string): bigint {
  return completionRules.find(([pattern]) => pattern.test(model))?.[1] ?? 1_000_000n
}

/** The unit by which a model is charged (tokens, images, characters and so on), derived from its name. */
export function basisByName(model: string): PriceBasis {
  if (/^(?:dall-e|cogview|wanx|ali-stable-diffusion|step-1x)/.test(model)) return 'image'
  if (/^tts-1/.test(model)) return 'characters'
  if (/(?:^|[./])rerank-(?:english-|multilingual-)?v\d/.test(model)) return 'search'
  return /^whisper/.test(model) ? 'duration' : 'tokens'
}

/**
 * The prices of a model at ratio 1, for models whose ratio is set by an option. The caller multiplies the prices by
 * that ratio.
 */
export function genericPrices(model: string): PriceSet {
  const input = quotaOne
  const output = (input * completionRatioByName(model)) / 1_000_000n
  const claude = model.startsWith('claude-')
  return {
    condition: undefined,
    basis: basisByName(model),
    prices: {
      input,
      cachedInput: claude ? input / 10n : input,
      cacheWrite: claude ? (input * 5n) / 4n : input,
      cacheWrite1h: claude ? input * 2n : input,
      audioInput: input,
      cachedAudioInput: claude ? input / 10n : input,
      imageInput: input,
      output,
      reasoning: output,
      audioOutput: output,
      imageOutput: output,
    },
    tiers: [],
    perCall: 0n,
    perHour: 0n,
    minimumSeconds: 0,
  }
}
