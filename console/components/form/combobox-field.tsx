import { type InputHTMLAttributes, type KeyboardEvent, type ReactNode, type RefObject, Suspense, useRef } from 'react'
import type { FieldValues } from 'react-hook-form'
import { lazy } from '../../lib/lazy.ts'
import { inputClass } from '../ui/input.tsx'
import type { ChoiceProps, Reached } from './combobox-control.tsx'
import { Field, type FieldParts, type FieldProps } from './field.tsx'
import { withWords } from './words.ts'

const MultiCombobox = lazy(() => import('./combobox-control.tsx').then((it) => ({ default: it.MultiCombobox })))
const SearchSelect = lazy(() => import('./combobox-control.tsx').then((it) => ({ default: it.SearchSelect })))

interface LoadedProps {
  id: string
  /** The chosen options as text. */
  shown: string
  /**
   * Handles text that is typed before the control loads. When the user finishes, the text is added immediately, as the
   * control would do. If `words` is absent, the box is read-only until the control loads.
   */
  words?: { add(text: string): void; creatable: boolean; keepsTyped: boolean }
  disabled: boolean | undefined
  children(reached: RefObject<Reached>): ReactNode
}

/**
 * Shows a placeholder box of the same size until the control, which is a large chunk, has loaded. If the user is
 * already in the box, the control starts in the matching state.
 */
function Loaded({ id, shown, words, disabled, children }: LoadedProps) {
  // This is a ref, because setting a state would replace the placeholder with the control while the user presses it.
  // The browser would then focus neither. A press that starts on the placeholder and ends on the control is a click on
  // neither of them, so the start of the press counts.
  const reached = useRef<Reached>({ how: 'not', typed: '' })
  const endWord = (box: HTMLInputElement) => {
    const { typed } = reached.current
    box.value = ''
    reached.current.typed = ''
    words?.add(typed)
  }
  const endWaitOnEscape = ({ key }: KeyboardEvent) => {
    if (key === 'Escape' && reached.current.how === 'open') reached.current.how = 'focused'
  }
  const takesWords: InputHTMLAttributes<HTMLInputElement> = words
    ? {
        placeholder: shown,
        onInput: ({ currentTarget }) => {
          reached.current = { how: 'open', typed: currentTarget.value }
        },
        onKeyDown: (event) => {
          endWaitOnEscape(event)
          if (event.key !== 'Enter' || reached.current.typed === '' || event.nativeEvent.isComposing) return
          event.preventDefault()
          if (!words.creatable) return
          // If the list opened after text was added, it would hide that text from screen-reader users.
          reached.current.how = 'focused'
          endWord(event.currentTarget)
        },
      }
    : { readOnly: true, value: shown, onKeyDown: endWaitOnEscape }
  const waiting = (
    <input
      id={id}
      aria-busy
      autoComplete="off"
      disabled={disabled}
      {...takesWords}
      className={`${inputClass} placeholder:text-fg`}
      onMouseDown={({ button }) => {
        if (button === 0) reached.current.how = 'open'
      }}
      onFocus={() => {
        if (reached.current.how === 'not') reached.current.how = 'focused'
      }}
      onClick={() => {
        reached.current.how = 'open'
      }}
      onBlur={({ currentTarget }) => {
        reached.current.how = 'not'
        if (words?.keepsTyped && reached.current.typed !== '') endWord(currentTarget)
      }}
    />
  )
  return <Suspense fallback={waiting}>{children(reached)}</Suspense>
}

function controlProps<T extends FieldValues>(props: FieldProps<T> & ChoiceProps, parts: FieldParts<T>) {
  const { options, placeholder, creatable, keepsTyped, onSearch, disabled } = props
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
    ...(onSearch && { onSearch }),
  }
}

/**
 * A field for choosing several options from a list. They are shown as chips. The value is a list of strings. With
 * `creatable`, other values can be typed one by one, or pasted as a list.
 */
export function ComboboxField<T extends FieldValues>(props: FieldProps<T> & ChoiceProps) {
  return (
    <Field {...props}>
      {(parts) => {
        const value = (parts.field.value as string[] | undefined) ?? []
        return (
          <Loaded
            id={parts.id}
            shown={value.join(', ')}
            words={{
              add: (text) => parts.field.onChange(withWords(value, text)),
              creatable: props.creatable ?? false,
              keepsTyped: props.keepsTyped ?? false,
            }}
            disabled={props.disabled}
          >
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

/**
 * A field for choosing one option from a long list by typing. The value is a string. With `creatable`, the typed text
 * itself is accepted.
 */
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
