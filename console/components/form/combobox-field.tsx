import { lazy, type ReactNode, Suspense, useState } from 'react'
import type { FieldValues } from 'react-hook-form'
import { inputClass } from '../ui/input.tsx'
import type { ChoiceProps, Reached } from './combobox-control.tsx'
import { Field, type FieldParts, type FieldProps } from './field.tsx'

const MultiCombobox = lazy(() => import('./combobox-control.tsx').then((it) => ({ default: it.MultiCombobox })))
const SearchSelect = lazy(() => import('./combobox-control.tsx').then((it) => ({ default: it.SearchSelect })))

interface LoadedProps {
  id: string
  /** What is chosen, in words. */
  shown: string
  disabled: boolean | undefined
  children(reached: Reached): ReactNode
}

/** A box of the same size while the control, which is large, is loaded; who is in it then finds the control as it should be. */
function Loaded({ id, shown, disabled, children }: LoadedProps) {
  const [reached, setReached] = useState<Reached>('not')
  const waiting = (
    <input
      id={id}
      readOnly
      aria-busy
      disabled={disabled}
      value={shown}
      className={inputClass}
      // What is pressed here and let go on the control is a click on neither: pressing counts.
      onMouseDown={(event) => event.button === 0 && setReached('open')}
      onFocus={() => setReached((before) => (before === 'open' ? before : 'focused'))}
      onClick={() => setReached('open')}
      onBlur={() => setReached('not')}
    />
  )
  return <Suspense fallback={waiting}>{children(reached)}</Suspense>
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
          <Loaded id={parts.id} shown={value.join(', ')} disabled={props.disabled}>
            {(reached) => (
              <MultiCombobox
                {...controlProps(props, parts)}
                reached={reached}
                value={value}
                onChange={parts.field.onChange}
              />
            )}
          </Loaded>
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
          <Loaded id={parts.id} shown={shown} disabled={props.disabled}>
            {(reached) => (
              <SearchSelect
                {...controlProps(props, parts)}
                reached={reached}
                value={value}
                onChange={onChange}
                onBlur={onBlur}
              />
            )}
          </Loaded>
        )
      }}
    </Field>
  )
}
