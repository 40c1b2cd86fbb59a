import type * as z from 'zod/mini'
import { text, textByKey } from '../../lib/text.ts'

type Issue = z.core.$ZodIssue

/** Patterns for error sentences of the API's schemas and of the server, with the message to show for each. */
const known: readonly (readonly [RegExp, (match: RegExpExecArray) => string])[] = [
  [/at most (\d+) characters/, ([, max = '']) => text('form.tooLong', { max })],
  [/at least (\d+) characters/, ([, min = '']) => text('form.tooShort', { min })],
  [/have (\d+) to (\d+) characters/, ([, min = '', max = '']) => text('form.length', { min, max })],
  [/email address/, () => text('form.mail')],
  [/letters, digits, dots/, () => text('form.letters')],
  [/must not be empty|is missing/, () => text('form.required')],
  [/must be a whole number/, () => text('form.integer')],
  [/must not be negative/, () => text('form.min', { min: 0 })],
  [/must be at least (-?[\d.]+?)\.?$/, ([, min = '']) => text('form.min', { min })],
  [/must be at most (-?[\d.]+?)\.?$/, ([, max = '']) => text('form.max', { max })],
]

/**
 * The problem with a field, in the language of the page. If the schema has a message key as its error (`{ error:
 * 'token.expiry.invalid' }`), that message is used.
 */
export function issueText(issue: Issue): string {
  const own = textByKey(issue.message)
  if (own !== undefined) return own
  switch (issue.code) {
    case 'invalid_type':
      if (issue.expected === 'number') return text('form.number')
      return issue.expected === 'int' ? text('form.integer') : text('form.required')
    case 'too_small':
      return tooSmall(Number(issue.minimum), issue.origin)
    case 'too_big':
      return text(issue.origin === 'string' ? 'form.tooLong' : 'form.max', { max: Number(issue.maximum) })
    default:
      return knownSentence(issue.message) ?? text('form.invalid')
  }
}

function tooSmall(min: number, origin: string): string {
  if (origin === 'array' || (origin === 'string' && min <= 1)) return text('form.required')
  return text(origin === 'string' ? 'form.tooShort' : 'form.min', { min })
}

/** The message to show for an error sentence of a schema or of the server; undefined if the sentence is unknown. */
export function knownSentence(sentence: string): string | undefined {
  for (const [pattern, say] of known) {
    const match = pattern.exec(sentence)
    if (match) return say(match)
  }
  return undefined
}
