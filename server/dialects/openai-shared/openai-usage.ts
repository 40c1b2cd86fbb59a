import type { Usage } from '../../../contract/usage.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'

/**
 * Reads OpenAI's `usage` object, and its variants in services that use OpenAI's dialect. Returns undefined if a total
 * is missing, negative or fractional, because then the whole object is not trusted. `total_tokens` shows whether tokens
 * are counted in addition to prompt and completion. A part that is larger than its total must have been counted in
 * addition to that total. `doubt` describes what the figures leave unclear.
 */
export function readUsage(raw: JsonObject | undefined): Usage | undefined {
  if (!raw) return undefined
  const prompt = count(raw['prompt_tokens'] ?? raw['input_tokens'])
  // Embeddings and moderations have no completion, so a missing field means 0.
  const completion = count(raw['completion_tokens'] ?? raw['output_tokens'] ?? 0)
  if (prompt === undefined || completion === undefined) return undefined
  const totals = { prompt, completion }
  const parts = readParts(raw)
  const beside = countedBeside(raw, parts, totals)
  const { doubt } = beside
  const usage = { promptTokens: prompt + beside.prompt, completionTokens: completion + beside.completion }
  if (!Number.isSafeInteger(usage.promptTokens + usage.completionTokens)) return undefined
  if (parts === noParts) return named(raw, doubt === undefined ? usage : { ...usage, doubt })
  const { left, ...fitted } = fitting(parts, usage)
  const doubts = [
    doubt,
    left && `${left} do not fit into their total: what is too much is charged as plain tokens`,
  ].filter(Boolean)
  return named(raw, { ...usage, ...fitted, ...(doubts.length > 0 && { doubt: doubts.join('; ') }) })
}

function named({ service_tier: tier }: JsonObject, usage: Usage): Usage {
  return typeof tier === 'string' ? { ...usage, tier } : usage
}

type Parts = Omit<Usage, 'promptTokens' | 'completionTokens'>

const noParts: Parts = {}

function readParts(raw: JsonObject): Parts {
  // Transcriptions spell this field "input_token_details" (OpenAI API reference, "transcription object").
  const prompt = details(raw['prompt_tokens_details'] ?? raw['input_tokens_details'] ?? raw['input_token_details'])
  const completion = details(raw['completion_tokens_details'] ?? raw['output_tokens_details'])
  // DeepSeek, Moonshot, Mistral and LiteLLM report cache hits alongside the totals; all other services report them in
  // the details.
  const cached = count(
    prompt['cached_tokens'] ??
      raw['prompt_cache_hit_tokens'] ??
      raw['cached_tokens'] ??
      raw['num_cached_tokens'] ??
      raw['cache_read_input_tokens'],
  )
  // DashScope uses Anthropic's name, but within the details.
  const cacheWrite = count(
    prompt['cache_write_tokens'] ??
      prompt['cache_creation_tokens'] ??
      prompt['cache_creation_input_tokens'] ??
      raw['cache_creation_input_tokens'],
  )
  // Mistral's transcriptions report the length of the audio. The tokens of the audio are included only in
  // `total_tokens`.
  const sound = count(raw['prompt_audio_seconds']) ? countedBeyond(raw) : undefined
  const ofCached = details(prompt['cached_tokens_details'])
  const cachedAudio = count(ofCached['audio_tokens'])
  const cachedImages = count(ofCached['image_tokens'])
  // DashScope uses the second of these fields, LiteLLM the third.
  const written = raw['cache_creation'] ?? prompt['cache_creation'] ?? prompt['cache_creation_token_details']
  const written1h = count(details(written)['ephemeral_1h_input_tokens'])
  const audioIn = count(prompt['audio_tokens'] ?? sound)
  const imageIn = count(prompt['image_tokens'])
  // Perplexity reports reasoning alongside the totals.
  const reasoning = count(completion['reasoning_tokens'] ?? raw['reasoning_tokens'])
  const audioOut = count(completion['audio_tokens'])
  const imageOut = count(completion['image_tokens'])
  if (!(cached || cacheWrite || audioIn || imageIn || reasoning || audioOut || imageOut)) return noParts
  return {
    ...(cached && { cachedTokens: cached }),
    ...(cachedAudio && { cachedAudioTokens: cachedAudio }),
    ...(cachedImages && { cachedImageTokens: cachedImages }),
    ...(cacheWrite && { cacheWriteTokens: cacheWrite }),
    ...(written1h && { cacheWrite1hTokens: written1h }),
    ...(audioIn && { audioPromptTokens: audioIn }),
    ...(imageIn && { imagePromptTokens: imageIn }),
    ...(reasoning && { reasoningTokens: reasoning }),
    ...(audioOut && { audioCompletionTokens: audioOut }),
    ...(imageOut && { imageCompletionTokens: imageOut }),
  }
}

/** Tokens that are counted in addition to prompt and completion. */
interface Beside {
  prompt: number
  completion: number
  doubt?: string
}

const nothingBeside: Beside = { prompt: 0, completion: 0 }

/**
 * Returns the tokens to add to prompt and completion. It tries three rules in this order. The first covers tokens that
 * a service is known to omit from all totals. The second covers tokens that only `total_tokens` includes. The third
 * covers parts that are too large for their total.
 */
function countedBeside(raw: JsonObject, parts: Parts, totals: { prompt: number; completion: number }): Beside {
  const rest = countedBeyond(raw)
  const known = knownBeside(raw, parts, rest)
  if (known) return known
  if (rest === 0) return tooLargeInside(raw, parts, totals)
  const explanation = explained(rest, parts)
  if (explanation) return explanation
  return {
    prompt: 0,
    completion: rest,
    doubt: `${rest} tokens of the total are neither prompt nor completion: charged as completion`,
  }
}

/**
 * Handles services whose total omits the tokens that they count separately. Vercel's gateway omits reasoning from
 * `total_tokens`, but includes it in the price that it reports. Perplexity's research models omit reasoning and the
 * tokens of cited pages in the same way. xAI always counts reasoning in addition to the completion of a chat, and
 * sometimes reports no total.
 */
function knownBeside(raw: JsonObject, { reasoningTokens = 0 }: Parts, rest: number): Beside | undefined {
  if (rest > 0) return undefined
  const cited = count(raw['citation_tokens'])
  if (cited !== undefined) return { prompt: cited, completion: reasoningTokens }
  const isVercel = raw['market_cost'] !== undefined
  const isUntotalledXai = raw['cost_in_usd_ticks'] !== undefined && !raw['total_tokens'] && 'completion_tokens' in raw
  return reasoningTokens > 0 && (isVercel || isUntotalledXai) ? { prompt: 0, completion: reasoningTokens } : undefined
}

/**
 * Finds the parts whose sum equals `rest`, the excess of `total_tokens` over prompt and completion. Output parts are
 * tried before input parts. Undefined if no sum matches.
 */
function explained(rest: number, parts: Parts): Beside | undefined {
  const { reasoningTokens = 0, audioCompletionTokens = 0, imageCompletionTokens = 0 } = parts
  const { audioPromptTokens = 0, imagePromptTokens = 0, cachedTokens = 0, cacheWriteTokens = 0 } = parts
  const outputs = sums([imageCompletionTokens, reasoningTokens, audioCompletionTokens])
  const inputs = sums([audioPromptTokens, imagePromptTokens, cachedTokens + cacheWriteTokens])
  for (const prompt of inputs)
    for (const completion of outputs) if (prompt + completion === rest) return { prompt, completion }
  return undefined
}

/** All sums of up to three numbers: zero, each number alone, any two of them, and all three. */
function sums([a = 0, b = 0, c = 0]: readonly number[]): readonly number[] {
  return [0, a, b, c, a + b, a + c, b + c, a + b + c]
}

/**
 * Adds reasoning that is larger than the completion that should include it. If the fields have Anthropic's names, it
 * also adds cached tokens that are larger than the prompt, because in Anthropic's usage they are not part of the
 * prompt. Audio and images are not added even if they exceed their total: unlike reasoning, they are visible output.
 */
function tooLargeInside(raw: JsonObject, parts: Parts, totals: { prompt: number; completion: number }): Beside {
  const { reasoningTokens: output = 0 } = parts
  const { cachedTokens = 0, cacheWriteTokens = 0 } = parts
  const input = cachedTokens + cacheWriteTokens
  const hasAnthropicNames = 'cache_read_input_tokens' in raw || 'cache_creation_input_tokens' in raw
  const completion = output > totals.completion ? output : 0
  const prompt = hasAnthropicNames && input > totals.prompt ? input : 0
  if (completion === 0 && prompt === 0) return nothingBeside
  const kinds = [
    completion > 0 && `${output} of a completion of ${totals.completion}`,
    prompt > 0 && `${input} of a prompt of ${totals.prompt}`,
  ]
  return {
    prompt,
    completion,
    doubt: `a part is larger than its total (${kinds.filter(Boolean).join(', ')}): added to it`,
  }
}

/** The excess of total_tokens over prompt and completion. */
function countedBeyond(raw: JsonObject): number {
  const prompt = count(raw['prompt_tokens'] ?? raw['input_tokens']) ?? 0
  const completion = count(raw['completion_tokens'] ?? raw['output_tokens']) ?? 0
  return Math.max(0, (count(raw['total_tokens']) ?? 0) - prompt - completion)
}

/** Reduces each kind of part to what fits into its total. `left` names the parts that did not fit. */
function fitting(parts: Parts, { promptTokens, completionTokens }: Usage): Parts & { left: string } {
  const left: string[] = []
  /** Fits the kinds of one total, in the order in which they are charged. */
  const fit = (total: number, kinds: readonly (readonly [part: keyof Parts & `${string}Tokens`, name: string])[]) => {
    let room = total
    return kinds.map(([part, name]) => {
      const tokens = parts[part] ?? 0
      // A part that is larger than the whole total is an error and is dropped. A part that only exceeds the rest of the
      // total is reduced to that rest.
      const taken = tokens > total ? 0 : Math.min(tokens, room)
      if (taken < tokens) left.push(name)
      room -= taken
      return taken > 0 ? { [part]: taken } : {}
    })
  }
  const fitted: Parts = Object.assign(
    {},
    ...fit(promptTokens, [
      ['cachedTokens', 'cached tokens'],
      ['cacheWriteTokens', 'tokens written to the cache'],
    ]),
    ...fit(promptTokens, [
      ['audioPromptTokens', 'sound of the prompt'],
      ['imagePromptTokens', 'images of the prompt'],
    ]),
    ...fit(completionTokens, [
      ['audioCompletionTokens', 'sound of the completion'],
      ['imageCompletionTokens', 'images of the completion'],
      ['reasoningTokens', 'reasoning'],
    ]),
  )
  return {
    ...fitted,
    ...(fitted.cachedTokens !== undefined && pick(parts, 'cachedAudioTokens', 'cachedImageTokens')),
    ...(fitted.cacheWriteTokens !== undefined && pick(parts, 'cacheWrite1hTokens')),
    left: left.join(', '),
  }
}

function pick(parts: Parts, ...names: (keyof Parts)[]): Parts {
  return Object.fromEntries(names.filter((name) => parts[name]).map((name) => [name, parts[name]]))
}

/** A count, or undefined if there is none. Services omit a field that does not apply, or set it to null. */
function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

const noDetails: JsonObject = {}

function details(value: unknown): JsonObject {
  return isObject(value) ? value : noDetails
}

/** The usage object of a response or a stream chunk, wherever the service puts it. */
export function usageOf(body: JsonObject): JsonObject | undefined {
  const { usage, service_tier: tier } = body
  // The tier is next to the usage object and affects the price.
  if (isObject(usage)) return typeof tier === 'string' ? { ...usage, service_tier: tier } : usage
  // In Groq's streams the usage is in a separate object. In Moonshot's streams it is in the choice.
  const groq = body['x_groq']
  if (isObject(groq) && isObject(groq['usage'])) return groq['usage']
  const choices = body['choices']
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined
  if (isObject(first) && isObject(first['usage'])) return first['usage']
  return undefined
}
