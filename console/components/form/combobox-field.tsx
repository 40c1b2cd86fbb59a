import {
  type InputHTMLAttributes,
  type KeyboardEvent,
  lazy,
  type ReactNode,
  type RefObject,
  Suspense,
  useRef,
} from 'react'
import type { FieldValues } from 'react-hook-form'
import { inputClass } from '../ui/input.tsx'
import type { ChoiceProps, Reached } from './combobox-control.tsx'
import { Field, type FieldParts, type FieldProps } from './field.tsx'
import { withWords } from './words.ts'

const MultiCombobox = lazy(() => import('./combobox-control.tsx').then((it) => ({ default: it.MultiCombobox })))
const SearchSelect = lazy(() => import('./combobox-control.tsx').then((it) => ({ default: it.SearchSelect })))

interface LoadedProps {
  id: string
  /** What is chosen, in words. */
  shown: string
  /** What is typed is for the control, and added at once when it is ended as it would be there; absent = the box can only be read until then. */
  words?: { add(text: string): void; creatable: boolean; keepsTyped: boolean }
  disabled: boolean | undefined
  children(reached: RefObject<Reached>): ReactNode
}

/** A box of the same size while the control, which is large, is loaded; who is in it then finds the control as it should be. */
function Loaded({ id, shown, words, disabled, children }: LoadedProps) {
  // Not a state: drawing anew while a press is handled would put the control under it, and the browser would then give the
  // focus to neither. What is pressed here and let go on the control is a click on neither, so pressing counts.
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
          // A list that opens after a word was added would hide it from who hears the page.
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
