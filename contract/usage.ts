/** Token counts of one call: first the totals, then subsets of these totals. Whole numbers, never negative. */
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
  /** The service tier that the upstream reports having used. */
  readonly tier?: string
  /** What was unclear in the upstream's figures and how they were interpreted. The log shows this. */
  readonly doubt?: string
}
