import type * as z from 'zod/mini'
import { text, textByKey } from '../../lib/text.ts'

type Issue = z.core.$ZodIssue

/** Sentences of the contract that are not plain limits, and the messages that say the same. */
const known: readonly (readonly [RegExp, (match: RegExpExecArray) => string])[] = [
  [/at most (\d+) characters/, ([, max = '']) => text('form.tooLong', { max })],
  [/at least (\d+) characters/, ([, min = '']) => text('form.tooShort', { min })],
  [/have (\d+) to (\d+) characters/, ([, min = '', max = '']) => text('form.length', { min, max })],
  [/e-mail address/, () => text('form.mail')],
  [/letters, digits, dots/, () => text('form.letters')],
  [/must not be empty/, () => text('form.required')],
]

/**
 * What is wrong with a field, in the language of the page. A schema may name a message key as its error
 * (`{ error: 'token.expiry.invalid' }`), which comes first.
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
      return sentence(issue.message)
  }
}

function tooSmall(min: number, origin: string): string {
  if (origin === 'array' || (origin === 'string' && min <= 1)) return text('form.required')
  return text(origin === 'string' ? 'form.tooShort' : 'form.min', { min })
}

function sentence(message: string): string {
  for (const [pattern, say] of known) {
    const match = pattern.exec(message)
    if (match) return say(match)
  }
  return text('form.invalid')
}
