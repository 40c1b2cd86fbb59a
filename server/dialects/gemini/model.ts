/** The features that a model supports, derived from its name (Gemini API: "Thinking", "Gemini 3 developer guide"). */
export interface ModelTraits {
  /** True if the model can be asked to think. */
  readonly thinks: boolean
  /** True if a level controls the thinking. Older models use a token budget instead. */
  readonly levels: boolean
  /** The lowest thinking budget. It is above 0 for models whose thinking cannot be turned off. */
  readonly leastBudget: number
  readonly leastLevel: string
  /**
   * True if the model rejects function calls in the history that have neither its own signature nor Google's
   * placeholder.
   */
  readonly signedCalls: boolean
  /** True if the model accepts images and files within a function response. */
  readonly mediaInResults: boolean
}

/** The lowest version to which names such as gemini-flash-latest refer. */
const latestVersion = 3

/** Reads a Gemini model's version from its name. Other models are treated as version 2.5. */
export function modelTraits(model: string): ModelTraits {
  const named = /gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1]
  const version = named === undefined && /gemini-[a-z-]*latest/.test(model) ? latestVersion : Number(named ?? '2.5')
  const isPro = /-pro\b/.test(model)
  return {
    thinks: version >= 2.5,
    levels: version >= 3,
    leastBudget: isPro ? 128 : 0,
    leastLevel: isPro ? 'LOW' : 'MINIMAL',
    signedCalls: version >= 3,
    mediaInResults: version >= 3,
  }
}

/** Google's placeholder signature for a call that Gemini did not make (Gemini API, "Thought signatures"). */
export const unsignedCall = 'skip_thought_signature_validator'
