import type { ComponentProps } from 'react'
import type { FieldValues } from 'react-hook-form'
import { inputClass } from '../ui/input.tsx'
import { PasswordInput } from '../ui/password-input.tsx'
import { Field, type FieldProps } from './field.tsx'

type InputProps = Pick<
  ComponentProps<'input'>,
  'placeholder' | 'autoComplete' | 'maxLength' | 'inputMode' | 'type' | 'autoFocus' | 'readOnly' | 'spellCheck' | 'list'
>

/** A field for one line of text. */
export function TextField<T extends FieldValues>({ type = 'text', ...props }: FieldProps<T> & InputProps) {
  const { placeholder, autoComplete, maxLength, inputMode, autoFocus, readOnly, spellCheck, list } = props
  return (
    <Field {...props}>
      {({ id, field, invalid, describedBy }) => (
        <input
          {...field}
          {...{ placeholder, autoComplete, maxLength, inputMode, autoFocus, readOnly, spellCheck, list, type, id }}
          value={field.value ?? ''}
          disabled={props.disabled}
          aria-invalid={invalid || undefined}
          aria-describedby={describedBy}
          className={inputClass}
        />
      )}
    </Field>
  )
}

/** A field for several lines of text; `mono` is for JSON and similar text. */
export function TextAreaField<T extends FieldValues>(
  props: FieldProps<T> & { rows?: number; placeholder?: string; mono?: boolean },
) {
  return (
    <Field {...props}>
      {({ id, field, invalid, describedBy }) => (
        <textarea
          {...field}
          id={id}
          value={field.value ?? ''}
          rows={props.rows ?? 5}
          placeholder={props.placeholder}
          disabled={props.disabled}
          spellCheck={!props.mono}
          aria-invalid={invalid || undefined}
          aria-describedby={describedBy}
          className={`${inputClass} h-auto! py-1.5 leading-5 ${props.mono ? 'font-mono text-sm!' : ''}`}
        />
      )}
    </Field>
  )
}

/** A password field: the password can be shown, and a hint appears when Caps Lock is on. */
export function PasswordField<T extends FieldValues>(props: FieldProps<T> & InputProps) {
  const { placeholder, autoComplete, maxLength } = props
  return (
    <Field {...props}>
      {({ id, field, invalid, describedBy }) => (
        <PasswordInput
          {...field}
          {...{ placeholder, autoComplete, maxLength, id }}
          value={field.value ?? ''}
          disabled={props.disabled}
          aria-invalid={invalid || undefined}
          aria-describedby={describedBy}
        />
      )}
    </Field>
  )
}
