import type { FieldPath, FieldValues, UseFormReturn } from 'react-hook-form'
import { CallError, translated } from '../../lib/call.ts'
import { text } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { knownSentence } from './issue-text.ts'
import { newTry } from './new-try.ts'

/** A server error about a field, in the wording of the page. */
interface Refusal {
  /** The text shown beside the field. */
  problem: string
  /** The same error as a sentence that names the field, for users who do not see the field. */
  sentence: string
}

/**
 * The server's message about a field, with the field's label instead of its name. Undefined if the message does not
 * begin with the name of the field.
 */
export function refusalOf({ sent }: CallError, field: string, label: string): Refusal | undefined {
  if (!sent?.message?.startsWith(`${field} `)) return undefined
  const { message } = sent
  const problem = knownSentence(message)
  if (problem !== undefined) return { problem, sentence: text('form.problem', { field: label, problem }) }
  const sentence = translated(sent, { field: label, key: label }) ?? label + message.slice(field.length)
  return { problem: sentence, sentence }
}

/** Shows an error beside the field that it mentions. The toast of the call then uses the field's label. */
export function showAtField<T extends FieldValues>(form: UseFormReturn<T>, failure: unknown): void {
  if (!(failure instanceof CallError)) return
  for (const name of Object.keys(form.getValues())) {
    const field = document.querySelector(`form [data-field="${name}"]`)
    if (!field) continue
    const refusal = refusalOf(failure, name, field.querySelector('label')?.firstChild?.textContent ?? name)
    if (!refusal) continue
    form.setError(name as FieldPath<T>, { message: refusal.problem }, { shouldFocus: true })
    newTry(form.control)
    toast.error(refusal.sentence)
  }
}
