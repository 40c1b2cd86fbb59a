import { lazy, Suspense } from 'react'
import type { FieldValues } from 'react-hook-form'
import { inputClass } from '../ui/input.tsx'
import type { ChoiceProps } from './combobox-control.tsx'
import { Field, type FieldParts, type FieldProps } from './field.tsx'

const MultiCombobox = lazy(() => import('./combobox-control.tsx').then((it) => ({ default: it.MultiCombobox })))
const SearchSelect = lazy(() => import('./combobox-control.tsx').then((it) => ({ default: it.SearchSelect })))

/** A box of the same size while the control, which is large, is loaded. */
function Waiting({ id, value }: { id: string; value: string }) {
  return <input id={id} readOnly value={value} className={inputClass} />
}

function controlProps<T extends FieldValues>(props: FieldProps<T> & ChoiceProps, parts: FieldParts<T>) {
  const { options, placeholder, creatable, keepsTyped, disabled } = props
  const { id, field, invalid, describedBy } = parts
  return {
    id,
    options,
    disabled,
    invalid,
    describedBy,
    inputRef: field.ref,
    ...(placeholder !== undefined && { placeholder }),
    ...(creatable !== undefined && { creatable }),
    ...(keepsTyped !== undefined && { keepsTyped }),
  }
}

/** Some of a list, as chips. The value is a list of texts; `creatable` takes others, too, one or a pasted list. */
export function ComboboxField<T extends FieldValues>(props: FieldProps<T> & ChoiceProps) {
  return (
    <Field {...props}>
      {(parts) => {
        const value = (parts.field.value as string[] | undefined) ?? []
        return (
          <Suspense fallback={<Waiting id={parts.id} value={value.join(', ')} />}>
            <MultiCombobox {...controlProps(props, parts)} value={value} onChange={parts.field.onChange} />
          </Suspense>
        )
      }}
    </Field>
  )
}

/** One of a long list, found by typing. The value is a text; `creatable` takes what is typed as it is. */
export function SearchSelectField<T extends FieldValues>(props: FieldProps<T> & ChoiceProps) {
  return (
    <Field {...props}>
      {(parts) => {
        const value = (parts.field.value as string | undefined) ?? ''
        const { onChange, onBlur } = parts.field
        const shown = props.options.find((option) => option.value === value)?.label ?? value
        return (
          <Suspense fallback={<Waiting id={parts.id} value={shown} />}>
            <SearchSelect {...controlProps(props, parts)} value={value} onChange={onChange} onBlur={onBlur} />
          </Suspense>
        )
      }}
    </Field>
  )
}
