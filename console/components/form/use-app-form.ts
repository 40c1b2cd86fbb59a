import {
  type DefaultValues,
  type FieldErrors,
  type FieldValues,
  type Resolver,
  type UseFormReturn,
  useForm,
} from 'react-hook-form'
import * as z from 'zod/mini'
import { issueText } from './issue-text.ts'

/** Checks values by a schema; messages are those of the page's language. */
function resolverFor<T extends FieldValues>(schema: z.ZodMiniType<unknown>): Resolver<T> {
  return (values) => {
    const result = z.safeParse(schema, values)
    // Fields keep what was typed; the caller turns it into what the server gets.
    if (result.success) return { values, errors: {} }
    const errors: Record<string, { type: string; message: string }> = {}
    for (const issue of result.error.issues) {
      const path = issue.path.join('.')
      errors[path] ??= { type: issue.code ?? 'invalid', message: issueText(issue) }
    }
    return { values: {}, errors: errors as FieldErrors<T> }
  }
}

export interface AppFormOptions<T extends FieldValues> {
  /** Rules of the fields; taken from the contract where the server has the same ones. */
  schema: z.ZodMiniType<unknown>
  values: DefaultValues<T>
}

/** A form of the product: checked on submit, then as people type; the first bad field gets the focus. */
export function useAppForm<T extends FieldValues>({ schema, values }: AppFormOptions<T>): UseFormReturn<T> {
  return useForm<T>({
    defaultValues: values,
    resolver: resolverFor<T>(schema),
    mode: 'onSubmit',
    reValidateMode: 'onChange',
    shouldFocusError: true,
  })
}
