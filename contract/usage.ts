/** Token counts of one call: totals first, then subsets of one total each. Whole numbers, never negative. */
export interface Usage {
  readonly promptTokens: number
  readonly completionTokens: number
  /** Prompt tokens read from the upstream's cache. */
  readonly cachedTokens?: number
  /** The part of `cachedTokens` that is audio. It is also counted in `audioPromptTokens`. */
  readonly cachedAudioTokens?: number
  /** The part of `cachedTokens` that is images. It is also counted in `imagePromptTokens`. */
  readonly cachedImageTokens?: number
  /** Prompt tokens written to the upstream's cache. */
  readonly cacheWriteTokens?: number
  /** The part of `cacheWriteTokens` that is kept for an hour. */
  readonly cacheWrite1hTokens?: number
  readonly audioPromptTokens?: number
  readonly imagePromptTokens?: number
  readonly reasoningTokens?: number
  readonly audioCompletionTokens?: number
  readonly imageCompletionTokens?: number
  /** The service tier that the upstream says it used. */
  readonly tier?: string
  /** What the upstream's figures left open, and how they were read; for the log. */
  readonly doubt?: string
}
