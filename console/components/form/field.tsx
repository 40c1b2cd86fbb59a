import { type ReactNode, useId } from 'react'
import {
  type Control,
  type ControllerRenderProps,
  type FieldError,
  type FieldPath,
  type FieldValues,
  useController,
} from 'react-hook-form'
import { useText } from '../../lib/text.ts'

/** Props of every form field. */
export interface FieldProps<T extends FieldValues> {
  control: Control<T>
  name: FieldPath<T>
  label: ReactNode
  hint?: ReactNode
  optional?: boolean
  disabled?: boolean | undefined
}

/** Props for the control of a field, which link it to its label, hint and error. */
export interface FieldParts<T extends FieldValues> {
  id: string
  field: ControllerRenderProps<T, FieldPath<T>>
  invalid: boolean
  describedBy: string | undefined
}

/**
 * A field with its label above the control, and its hint and error below. All are linked to the control, which the
 * caller renders.
 */
export function Field<T extends FieldValues>(
  props: FieldProps<T> & {
    children: (parts: FieldParts<T>) => ReactNode
    after?: ReactNode
    /** Returns the text to show for an error; without it, the error's message is shown. */
    problem?: (error: FieldError) => string | undefined
  },
) {
  const { control, name, label, hint, optional = false, children, after } = props
  const t = useText()
  const id = useId()
  const { field, fieldState } = useController({ control, name })
  const error = fieldState.error && (props.problem ? props.problem(fieldState.error) : fieldState.error.message)
  const describedBy = [error !== undefined && `${id}-error`, hint !== undefined && `${id}-hint`].filter(Boolean)
  return (
    <div className="flex flex-col gap-1" data-field={name}>
      <label htmlFor={id} className="text-sm font-medium">
        {label}
        {optional && <span className="ml-1.5 font-normal text-muted">{t('form.optional')}</span>}
      </label>
      {children({ id, field, invalid: error !== undefined, describedBy: describedBy.join(' ') || undefined })}
      {after}
      {error !== undefined && (
        <p id={`${id}-error`} className="text-sm text-bad first-letter:uppercase">
          {error}
        </p>
      )}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-sm text-muted">
          {hint}
        </p>
      )}
    </div>
  )
}
