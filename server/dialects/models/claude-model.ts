/**
 * The features that a model supports, derived from its name (Anthropic docs: "Adaptive thinking", model overviews and
 * migration guides).
 */
export interface ModelTraits {
  /** True if the model can be asked to think. */
  readonly thinks: boolean
  /** True if `adaptive` and an effort control the thinking. Older models use a token budget instead. */
  readonly adaptive: boolean
  /** True if the model refuses a budget, and any temperature, top_p and top_k other than the default. */
  readonly fixedSampling: boolean
  /** True if the model refuses temperature and top_p in the same request. */
  readonly oneSampler: boolean
  /** True if the model accepts system messages in the middle of a conversation. */
  readonly midSystem: boolean
  /** True if the model cannot be forced to call a tool. */
  readonly freeChoice: boolean
  /** True if the request may end with an assistant turn, which the model then continues. */
  readonly prefill: boolean
}

/**
 * True for other vendors' models that use Claude's dialect. They accept their own reasoning back without a signature.
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

/** The default token limit of an answer. All models of the given model's generation can generate this many tokens. */
export function usualMaxTokens(model: string): number {
  const version = claudeVersion(model)
  if (version >= 3.7) return 32_000
  return version >= 3.5 ? 8192 : 4096
}

function claudeVersion(model: string): number {
  if (/claude-mythos-preview/.test(model)) return 4.7
  // "claude-opus-4-7-20260101", "claude-sonnet-5", "claude-3-5-haiku": a part with eight digits is a date.
  const match = /claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(model)
  return match ? Number(`${match[1]}.${match[2] ?? 0}`) : 0
}
