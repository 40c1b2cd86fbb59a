import { oncePerText } from '../lib/once-per-text.ts'

/** The maximum number of tokens that a model can generate and read, from the vendors' public documentation. */

/** Maps prefixes of model names to the maximum number of completion tokens. The longest matching prefix applies. */
const limits: Readonly<Record<string, number>> = {
  'gpt-3.5': 4096,
  'gpt-3.5-turbo-16k': 16_384,
  'gpt-4': 8192,
  'gpt-4-0125': 4096,
  'gpt-4-1106': 4096,
  'gpt-4-32k': 32_768,
  'gpt-4-turbo': 4096,
  'gpt-4-vision': 4096,
  'gpt-4.1': 32_768,
  'gpt-4.5': 16_384,
  'gpt-4o': 16_384,
  'gpt-4o-2024-05-13': 4096,
  'gpt-4o-realtime': 4096,
  'gpt-5': 128_000,
  'gpt-5-chat': 16_384,
  'gpt-5-pro': 272_000,
  'gpt-5.1-chat': 16_384,
  'gpt-5.2-chat': 16_384,
  'gpt-6': 128_000,
  'gpt-audio': 16_384,
  'gpt-oss': 131_072,
  'gpt-realtime': 4096,
  'chatgpt-4o': 16_384,
  'codex-mini': 100_000,
  'computer-use': 1024,
  o1: 100_000,
  'o1-mini': 65_536,
  'o1-preview': 32_768,
  o3: 100_000,
  'o4-mini': 100_000,
  'claude-2': 4096,
  'claude-instant': 4096,
  'claude-3-haiku': 4096,
  'claude-3-opus': 4096,
  'claude-3-sonnet': 4096,
  'claude-3-5': 8192,
  'claude-3.5': 8192,
  'claude-3-7': 64_000,
  'claude-3.7': 64_000,
  'claude-haiku-4': 64_000,
  'claude-opus-4': 32_000,
  'claude-opus-4-5': 64_000,
  'claude-opus-4-6': 128_000,
  'claude-opus-4-7': 128_000,
  'claude-opus-4-8': 128_000,
  'claude-opus-4.5': 64_000,
  'claude-opus-4.6': 128_000,
  'claude-opus-4.7': 128_000,
  'claude-opus-4.8': 128_000,
  'claude-opus-5': 128_000,
  'claude-sonnet-4': 64_000,
  'claude-sonnet-4-6': 128_000,
  'claude-sonnet-4.6': 128_000,
  'claude-sonnet-5': 128_000,
  'claude-fable-5': 128_000,
  'gemini-1': 8192,
  'gemini-1.0': 2048,
  'gemini-pro': 2048,
  'gemini-2.0': 8192,
  'gemini-2.5': 65_536,
  'gemini-2.5-flash-image': 32_768,
  'gemini-3': 65_536,
  'deepseek-chat': 8192,
  'deepseek-reasoner': 65_536,
  'deepseek-v3': 65_536,
  'deepseek-r1': 65_536,
  'deepseek-v4': 393_216,
  'grok-2': 131_072,
  'grok-3': 131_072,
  'grok-4': 256_000,
  'grok-code': 256_000,
  'mistral-': 131_072,
  'ministral-': 131_072,
  'magistral-': 40_960,
  'codestral-': 256_000,
  'command-r': 4096,
  'command-a': 8192,
  'qwen-max': 8192,
  'qwen-plus': 32_768,
  'qwen-turbo': 16_384,
  'qwen2.5': 8192,
  qwen3: 65_536,
  'glm-4': 4096,
  'glm-4.5': 98_304,
  'glm-4.6': 131_072,
  'glm-4.7': 131_072,
  'glm-5': 131_072,
  'moonshot-v1-8k': 8192,
  'moonshot-v1-32k': 32_768,
  'moonshot-v1-128k': 131_072,
  'kimi-': 262_144,
  'minimax-m': 196_608,
  'ernie-': 2048,
  sonar: 8192,
}

/** Maps prefixes of model names to the longest available context, in tokens. */
const contexts: Readonly<Record<string, number>> = {
  'gpt-3.5': 16_385,
  'gpt-4': 8192,
  'gpt-4-0125': 128_000,
  'gpt-4-1106': 128_000,
  'gpt-4-32k': 32_768,
  'gpt-4-turbo': 128_000,
  'gpt-4-vision': 128_000,
  'gpt-4.1': 1_047_576,
  'gpt-4.5': 128_000,
  'gpt-4o': 128_000,
  'gpt-5': 400_000,
  'gpt-5.4': 1_050_000,
  'gpt-5.5': 1_050_000,
  'gpt-5.6': 1_050_000,
  'gpt-audio': 128_000,
  'gpt-oss': 131_072,
  o1: 200_000,
  'o1-mini': 128_000,
  'o1-preview': 128_000,
  o3: 200_000,
  o4: 200_000,
  'chatgpt-4o': 128_000,
  'claude-2': 200_000,
  'claude-instant': 100_000,
  'claude-3': 200_000,
  'claude-haiku-4': 200_000,
  'gemini-1.5-pro': 2_097_152,
}

/** The assumed context of an unknown model. Most models that read files, audio and video have this context. */
const usualContext = 1_048_576

const longestStart = longestOf(limits)
const longestContextStart = longestOf(contexts)

function longestOf(table: Readonly<Record<string, number>>): number {
  return Math.max(...Object.keys(table).map((start) => start.length))
}

/** The maximum number of prompt tokens that a model reads. */
export function contextTokens(model: string): number {
  return entryFor(model, contexts, longestContextStart) ?? usualContext
}

/**
 * The maximum number of completion tokens that a model can generate; undefined if unknown. A vendor prefix
 * ("openai/gpt-4o", "us.anthropic.claude-…") is ignored.
 */
export const maxOutputTokens = oncePerText((model) => entryFor(model, limits, longestStart))

function entryFor(model: string, table: Readonly<Record<string, number>>, longest: number): number | undefined {
  const name = model
    .toLowerCase()
    .replace(/^.*\//, '')
    .replace(/^(?:[a-z-]+\.)*(?=claude-)/, '')
    .replace(/^ft:/, '')
    .replace(/^gpt-35/, 'gpt-3.5')
  for (let length = Math.min(name.length, longest); length > 1; length--) {
    const start = name.slice(0, length)
    if (Object.hasOwn(table, start)) return table[start]
  }
  return undefined
}

/**
 * Matches models whose streams do not contain their reasoning, so that their completion tokens cannot be counted from
 * the stream.
 */
const unseenReasoning = /^(o\d|gpt-[5-9]|gemini-(2\.5|[3-9])|grok-(3-mini|[4-9])|codex)/

/** True if a model may generate tokens that it charges for but does not stream. */
export const reasonsUnseen = oncePerText((model) => unseenReasoning.test(model.toLowerCase().replace(/^.*\//, '')))
