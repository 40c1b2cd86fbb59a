import { type FieldValues, useController } from 'react-hook-form'
import { Select } from '../ui/select.tsx'
import { Switch } from '../ui/switch.tsx'
import { SwitchRow } from '../ui/switch-row.tsx'
import { Field, type FieldProps } from './field.tsx'

/** A field with a select box for choosing one option from a list. Values are strings. */
export function SelectField<T extends FieldValues>(
  props: FieldProps<T> & { options: readonly { value: string; label: string }[] },
) {
  return (
    <Field {...props}>
      {({ id, field, invalid, describedBy }) => (
        <Select
          {...field}
          id={id}
          value={field.value ?? ''}
          disabled={props.disabled}
          aria-invalid={invalid || undefined}
          aria-describedby={describedBy}
        >
          {props.options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </Select>
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
