import { textHash } from '../../lib/text-hash.ts'

/** A service's rules for a call id or for a tool name. */
export interface WordRule {
  readonly fits: RegExp
  readonly longest: number
  /** The characters that are replaced when an invalid name is rewritten. */
  readonly other: RegExp
  /** True if the word must begin with a letter or `_`. */
  readonly beginsWithLetter?: true
  /** True if the word must consist of exactly nine letters and digits. */
  readonly nine?: true
}

/** A service's rules for call ids and tool names. */
export interface ToolRules {
  readonly ids: WordRule
  readonly names: WordRule
  /** True if every call of a conversation must have a unique id. */
  readonly uniqueIds?: true
}

const plain = /[^a-zA-Z0-9_-]/g

/** The rule that allows any text up to a length. */
const upTo = (longest: number): WordRule => ({ fits: /^[\s\S]+$/, longest, other: plain })
/** The rule that allows letters, digits, `_` and `-`, up to a length. */
const plainUpTo = (longest: number): WordRule => ({ fits: /^[a-zA-Z0-9_-]+$/, longest, other: plain })

/**
 * OpenAI's chat. The limits are taken from its error messages ("string too long. Expected a string with maximum length
 * 40").
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

/** The length of the hash at the end of a rewritten name. */
const marked = 8

/**
 * A valid name for an invalid one. It consists of the beginning of the name, as long as the rule allows, and a hash of
 * the whole name. `attempt` distinguishes names whose hashes collide.
 */
export function validName(word: string, rule: WordRule, attempt: number): string {
  const hash = textHash(`${attempt} ${word}`)
  if (rule.nine) return hash.slice(0, rule.longest)
  const prefix = word.replace(rule.other, '_').slice(0, rule.longest - marked - 2)
  const whole = `${prefix}_${hash.slice(0, marked)}`
  return rule.beginsWithLetter && !/^[a-zA-Z_]/.test(whole) ? `_${whole}` : whole
}
