import { isObject, type JsonObject } from '../../../server/lib/json.ts'

/** Quota per token of each class. All are whole numbers, so that every charge can be computed by hand. */
export const price = {
  input: 8,
  cached: 4,
  cacheWrite: 10,
  audioInput: 16,
  imageInput: 24,
  output: 40,
  audioOutput: 48,
}

const hostedKinds = [
  'web_search',
  'web_search_preview',
  'x_search',
  'live_search',
  'enterprise_search',
  'maps',
  'file_search',
  'code_interpreter',
  'image_generation',
]

/** The options that give every model these prices, as key and value. */
export function ratioOptions(models: Iterable<string>): [key: string, value: string][] {
  const all = (ratio: number) => JSON.stringify(Object.fromEntries([...models].map((model) => [model, ratio])))
  return [
    ['ModelRatio', all(price.input)],
    ['CompletionRatio', all(price.output / price.input)],
    ['CacheRatio', all(price.cached / price.input)],
    ['CreateCacheRatio', all(price.cacheWrite / price.input)],
    ['AudioRatio', all(price.audioInput / price.input)],
    ['AudioCompletionRatio', all(price.audioOutput / price.audioInput)],
    ['ImageRatio', all(price.imageInput / price.input)],
    // Tools are free here. Their prices have their own tests.
    ['ToolPrice', JSON.stringify(Object.fromEntries(hostedKinds.map((kind) => [kind, 0])))],
  ]
}

/** What a log row must show for a call. */
interface ExpectedCharge {
  prompt: number
  completion: number
  cached: number
  reasoning: number
  quota: number
}

/**
 * The charge for a usage object according to the documentation of the providers, computed independently of the
 * gateway's code. Some providers count reasoning or audio outside the totals. This can be seen from total_tokens or,
 * for Vercel's gateway, from the price that it reports. If there are more reasoning tokens than completion tokens, the
 * completion tokens do not include them. If there are more cached tokens than prompt tokens, they cost what the prompt
 * costs.
 */
export function expectedCharge(usage: JsonObject): ExpectedCharge {
  const number = (...values: unknown[]) => values.find((value): value is number => typeof value === 'number') ?? 0
  const part = (...names: string[]) => names.map((name) => usage[name]).find(isObject) ?? {}
  const promptParts = part('prompt_tokens_details', 'input_tokens_details', 'input_token_details')
  const completionParts = part('completion_tokens_details', 'output_tokens_details')
  let prompt = number(usage['prompt_tokens'], usage['input_tokens'])
  let completion = number(usage['completion_tokens'], usage['output_tokens'])
  const reasoning = number(completionParts['reasoning_tokens'])
  const audioIn = number(promptParts['audio_tokens'])
  const beyond = number(usage['total_tokens'], prompt + completion) - prompt - completion
  if (beyond === reasoning || 'market_cost' in usage) completion += reasoning
  else if (beyond === audioIn) prompt += audioIn
  else completion += Math.max(0, beyond)
  if (reasoning > completion) completion += reasoning
  let cached = number(
    promptParts['cached_tokens'],
    usage['prompt_cache_hit_tokens'],
    usage['num_cached_tokens'],
    usage['cached_tokens'],
  )
  let written = number(promptParts['cache_write_tokens'], usage['cache_creation_input_tokens'])
  if (cached + written > prompt) cached = written = 0
  const imageIn = number(promptParts['image_tokens'])
  const audioOut = number(completionParts['audio_tokens'])
  const promptQuota = cachedPrompt({ prompt, audioIn, imageIn, cached, written })
  const quota = promptQuota + (completion - audioOut) * price.output + audioOut * price.audioOutput
  return { prompt, completion, cached, reasoning, quota }
}

interface PromptTokens {
  prompt: number
  audioIn: number
  imageIn: number
  cached: number
  written: number
}

/**
 * Cached tokens are assumed to be text tokens first, then image tokens, then audio tokens. A cached token of each kind
 * costs the same fraction of its uncached price.
 */
function cachedPrompt({ prompt, audioIn, imageIn, cached, written }: PromptTokens): number {
  const text = prompt - audioIn - imageIn
  const cachedText = Math.min(cached, text)
  const cachedImages = Math.min(cached - cachedText, imageIn)
  const cachedSound = cached - cachedText - cachedImages
  const share = price.cached / price.input
  return (
    (text - cachedText - written) * price.input +
    cachedText * price.cached +
    written * price.cacheWrite +
    (imageIn - cachedImages + cachedImages * share) * price.imageInput +
    (audioIn - cachedSound + cachedSound * share) * price.audioInput
  )
}

/** The charge for text tokens. */
export function plainCharge(prompt: number, completion: number): number {
  return prompt * price.input + completion * price.output
}

/** The charge for images of the smallest size: a thousand times the ratio for each image. */
export function imageCharge(images: number): number {
  return images * price.input * 1000
}

/** The charge for audio that is priced by its length. A minute counts as 200 tokens. */
export function soundCharge(seconds: number): number {
  return Math.ceil((seconds * 200 * price.input) / 60 - 1e-9)
}
