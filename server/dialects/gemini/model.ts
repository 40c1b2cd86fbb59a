/** What a model takes, as far as its name tells (Gemini API: "Thinking", "Gemini 3 developer guide"). */
export interface ModelTraits {
  /** Can be asked to think. */
  readonly thinks: boolean
  /** Thinks by a level; older ones by a budget of tokens. */
  readonly levels: boolean
  /** Cannot be told not to think; this is the least. */
  readonly leastBudget: number
  readonly leastLevel: string
  /** Refuses a call in the history that it has not signed. */
  readonly signedCalls: boolean
  /** Takes images and files within the answer of a function. */
  readonly mediaInResults: boolean
}

/** What names such as gemini-flash-latest stand for at least. */
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
