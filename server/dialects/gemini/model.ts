/** What a model supports, if its name tells (Gemini API: "Thinking", "Gemini 3 developer guide"). */
export interface ModelTraits {
  /** Can be asked to think. */
  readonly thinks: boolean
  /** Thinks by a level; older models by a token budget. */
  readonly levels: boolean
  /** Thinking cannot be turned off; this is the minimum. */
  readonly leastBudget: number
  readonly leastLevel: string
  /** Refuses a call in the history that it did not sign. */
  readonly signedCalls: boolean
  /** Accepts images and files within a function response. */
  readonly mediaInResults: boolean
}

/** The lowest version that names such as gemini-flash-latest stand for. */
const latestVersion = 3

/** Reads a Gemini model's version from its name; other models are taken for 2.5. */
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

/** Google's word for "this call was not made by Gemini" (Gemini API, "Thought signatures"). */
export const unsignedCall = 'skip_thought_signature_validator'
