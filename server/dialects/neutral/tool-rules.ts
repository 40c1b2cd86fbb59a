import { textHash } from '../../lib/text-hash.ts'

/** A service's rules for a call id or for a tool name. */
export interface WordRule {
  readonly fits: RegExp
  readonly longest: number
  /** The characters that are replaced when an invalid name is rewritten. */
  readonly other: RegExp
  /** The name must begin with a letter or `_`. */
  readonly beginsWithLetter?: true
  /** The name must consist of exactly nine letters and digits. */
  readonly nine?: true
}

/** A service's rules for call ids and tool names. */
export interface ToolRules {
  readonly ids: WordRule
  readonly names: WordRule
  /** Every call of a conversation must have a unique id. */
  readonly uniqueIds?: true
}

const plain = /[^a-zA-Z0-9_-]/g

/** Any text up to a length. */
const upTo = (longest: number): WordRule => ({ fits: /^[\s\S]+$/, longest, other: plain })
/** Letters, digits, `_` and `-`. */
const plainUpTo = (longest: number): WordRule => ({ fits: /^[a-zA-Z0-9_-]+$/, longest, other: plain })

/**
 * OpenAI's chat: the limits come from its error messages ("string too long. Expected a string with maximum length 40").
 */
export const chatRules: ToolRules = { ids: upTo(40), names: plainUpTo(64) }

/** OpenAI's Responses API. */
export const responsesRules: ToolRules = { ids: upTo(64), names: plainUpTo(64) }

/** Anthropic's Messages API (API reference, "Create a Message": `tools.name`, `tool_use.id`). */
export const messagesRules: ToolRules = { ids: plainUpTo(256), names: plainUpTo(128), uniqueIds: true }

/** Google's generateContent (Gemini API, "FunctionDeclaration"); it does not check ids. */
export const geminiRules: ToolRules = {
  ids: upTo(256),
  names: { fits: /^[a-zA-Z_][a-zA-Z0-9_.:-]*$/, longest: 64, other: plain, beginsWithLetter: true },
}

/** Amazon's Converse (API reference, "ToolUseBlock", "ToolSpecification"). */
export const converseRules: ToolRules = { ids: plainUpTo(64), names: plainUpTo(64), uniqueIds: true }

/** Mistral's chat refuses an id that is not nine letters and digits ("must be a-z, A-Z, 0-9, with a length of 9"). */
export const mistralRules: ToolRules = {
  ids: { fits: /^[a-zA-Z0-9]{9}$/, longest: 9, other: plain, nine: true },
  names: plainUpTo(64),
}

/** True for a name that is valid as it is. */
export function fits(word: string, { fits: pattern, longest }: WordRule): boolean {
  return word.length <= longest && pattern.test(word)
}

/** Length of the hash at the end of a name that was rewritten. */
const marked = 8

/**
 * A valid name made from an invalid one: as much of the name as possible, and a hash of the whole name. `attempt`
 * distinguishes names whose hashes collide.
 */
export function validName(word: string, rule: WordRule, attempt: number): string {
  const hash = textHash(`${attempt} ${word}`)
  if (rule.nine) return hash.slice(0, rule.longest)
  const prefix = word.replace(rule.other, '_').slice(0, rule.longest - marked - 2)
  const whole = `${prefix}_${hash.slice(0, marked)}`
  return rule.beginsWithLetter && !/^[a-zA-Z_]/.test(whole) ? `_${whole}` : whole
}
