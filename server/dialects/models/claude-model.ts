/**
 * What a model supports, if its name shows this (Anthropic docs: "Adaptive thinking", model overviews and migration
 * guides).
 */
export interface ModelTraits {
  /** Can be asked to think. */
  readonly thinks: boolean
  /** Thinking is set by `adaptive` and an effort. Older models use a token budget instead. */
  readonly adaptive: boolean
  /** Refuses a budget, and any temperature, top_p and top_k other than the default. */
  readonly fixedSampling: boolean
  /** Refuses temperature and top_p together. */
  readonly oneSampler: boolean
  /** Accepts system messages in the middle of a conversation. */
  readonly midSystem: boolean
  /** Cannot be forced to call a tool. */
  readonly freeChoice: boolean
  /** Continues a turn of its own that the request ends with. */
  readonly prefill: boolean
}

/**
 * True for other vendors' models that use Claude's dialect. They accept their own thoughts back without a signature.
 */
export function isOfOtherMaker(model: string): boolean {
  return /deepseek|kimi|moonshot|glm|minimax|qwen|mimo|longcat|doubao/i.test(model)
}

/** The smallest thinking budget, in tokens, that a model accepts. */
export const leastBudget = 1024

/** Reads a Claude model's version from its name. Other models are treated as old ones. */
export function modelTraits(model: string): ModelTraits {
  const version = claudeVersion(model)
  return {
    thinks: version === 0 || version >= 3.7,
    adaptive: version >= 4.6,
    fixedSampling: version >= 4.7,
    oneSampler: version >= 4.1,
    midSystem: version >= 4.8,
    freeChoice: version >= 5.5,
    prefill: version < 4.6 && /claude/.test(model),
  }
}

/** The default token limit of an answer. Every model of the same kind can generate this many tokens. */
export function usualMaxTokens(model: string): number {
  const version = claudeVersion(model)
  if (version >= 3.7) return 32_000
  return version >= 3.5 ? 8192 : 4096
}

function claudeVersion(model: string): number {
  if (/claude-mythos-preview/.test(model)) return 4.7
  // "claude-opus-4-7-20260101", "claude-sonnet-5", "claude-3-5-haiku": a part of eight digits is a date.
  const match = /claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(model)
  return match ? Number(`${match[1]}.${match[2] ?? 0}`) : 0
}
