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

/** Validates values against a schema. Messages are in the page's language. */
function resolverFor<T extends FieldValues>(schema: z.ZodMiniType<unknown>): Resolver<T> {
  return (values) => {
    const result = z.safeParse(schema, values)
    // Fields keep the typed values; the caller converts them for the server.
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
  /** The validation rules. Rules that the server also checks are imported from the contract, which both share. */
  schema: z.ZodMiniType<unknown>
  values: DefaultValues<T>
}

/**
 * A form of the console. It is first validated on submit, and from then on while the user types. The first invalid
 * field gets the focus.
 */
export function useAppForm<T extends FieldValues>({ schema, values }: AppFormOptions<T>): UseFormReturn<T> {
  return useForm<T>({
    defaultValues: values,
    resolver: resolverFor<T>(schema),
    mode: 'onSubmit',
    reValidateMode: 'onChange',
    shouldFocusError: true,
  })
}
