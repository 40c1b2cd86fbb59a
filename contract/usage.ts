/** Token counts of one call. Totals first; every other count is a subset of its total. Whole numbers, never negative. */
export interface Usage {
  readonly promptTokens: number
  readonly completionTokens: number
  /** Prompt tokens read from the upstream's cache. */
  readonly cachedTokens?: number
  /** Those of `cachedTokens` that are audio, too. They are counted in `audioPromptTokens` as well. */
  readonly cachedAudioTokens?: number
  /** Those of `cachedTokens` that are images, too. They are counted in `imagePromptTokens` as well. */
  readonly cachedImageTokens?: number
  /** Prompt tokens written to the upstream's cache. */
  readonly cacheWriteTokens?: number
  /** Those of `cacheWriteTokens` that are kept for an hour. */
  readonly cacheWrite1hTokens?: number
  readonly audioPromptTokens?: number
  readonly imagePromptTokens?: number
  readonly reasoningTokens?: number
  readonly audioCompletionTokens?: number
  readonly imageCompletionTokens?: number
  /** The service tier that the upstream says it answered in. */
  readonly tier?: string
  /** What the upstream's figures left open, and how it was read; for the log. */
  readonly doubt?: string
}
