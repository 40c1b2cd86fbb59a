import { type ReactNode, useId } from 'react'
import { type FieldValues, useController } from 'react-hook-form'
import { inputClass } from '../ui/input.tsx'
import { Switch } from '../ui/switch.tsx'
import { Field, type FieldProps } from './field.tsx'

/** A field for choosing one option from a list, using the browser's native control. Values are strings. */
export function SelectField<T extends FieldValues>(
  props: FieldProps<T> & { options: readonly { value: string; label: string }[] },
) {
  return (
    <Field {...props}>
      {({ id, field, invalid, describedBy }) => (
        <select
          {...field}
          id={id}
          value={field.value ?? ''}
          disabled={props.disabled}
          aria-invalid={invalid || undefined}
          aria-describedby={describedBy}
          className={inputClass}
        >
          {props.options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

/** An on/off field with label and hint beside it. */
export function SwitchField<T extends FieldValues>({ control, name, label, hint, disabled }: FieldProps<T>) {
  const { field } = useController({ control, name })
  return (
    <SwitchRow label={label} hint={hint}>
      {(ids) => (
        <Switch
          {...ids}
          ref={field.ref}
          name={field.name}
          checked={field.value === true}
          onChange={(event) => field.onChange(event.target.checked)}
          onBlur={field.onBlur}
          disabled={disabled}
        />
      )}
    </SwitchRow>
  )
}

/** The layout of a switch with its label, also used outside forms. */
export function SwitchRow(props: {
  label: ReactNode
  hint?: ReactNode
  children: (ids: { id: string; 'aria-describedby': string | undefined }) => ReactNode
}) {
  const id = useId()
  const hinted = props.hint !== undefined
  return (
    <div className="flex items-start justify-between gap-4">
      <div>
        <label htmlFor={id} className="text-sm font-medium">
          {props.label}
        </label>
        {hinted && (
          <p id={`${id}-hint`} className="text-sm text-muted">
            {props.hint}
          </p>
        )}
      </div>
      {props.children({ id, 'aria-describedby': hinted ? `${id}-hint` : undefined })}
    </div>
  )
}
