import { Combobox } from '@base-ui/react/combobox'
import { Check, ChevronDown, X } from 'lucide-react'
import {
  type ComponentProps,
  type ReactNode,
  type Ref,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { useText } from '../../lib/text.ts'
import { inputClass } from '../ui/input.tsx'
import { withWords } from './words.ts'

/** One option of a list. */
export interface Choice {
  value: string
  label: string
  /** Shown before the label in the list. */
  icon?: ReactNode
  /** Additional words that the search matches. */
  words?: string
}

export interface ChoiceProps {
  options: readonly Choice[]
  placeholder?: string
  /**
   * Typed text may be added even if no option has that name. The text is trimmed. Empty text and existing options are
   * not added.
   */
  creatable?: boolean
  /** Called with the search text, so that the server can search for options. */
  onSearch?(text: string): void
  /** Typed text is also added when the user leaves the field. Set this if an empty field means all values. */
  keepsTyped?: boolean
}

/** What the user did in the placeholder box before the control had loaded. */
export interface Reached {
  /**
   * 'open' means that the user is waiting for the list. It also applies if the control has loaded but its options have
   * not.
   */
  how: 'not' | 'focused' | 'open'
  /** The typed text; '' if the box does not accept text. */
  typed: string
}

/** The props that a control gets from its field. */
interface ControlProps extends ChoiceProps {
  id: string
  reached: RefObject<Reached>
  inputRef: Ref<HTMLInputElement>
  disabled?: boolean | undefined
  invalid: boolean
  describedBy: string | undefined
}

const itemClass =
  'grid min-h-8 cursor-default grid-cols-[1rem_1fr] items-center gap-2 rounded-md px-2 text-sm outline-none select-none data-highlighted:bg-active max-sm:min-h-10'
const popupClass =
  'ui-popup max-h-[min(var(--available-height),20rem)] w-(--anchor-width) max-w-(--available-width) overflow-y-auto overscroll-contain p-1'

const label = (choice: Choice) => choice.label
const sought = (choice: Choice) => `${choice.label} ${choice.words ?? ''}`
const same = (a: Choice, b: Choice) => a.value === b.value

type KeyDown = NonNullable<ComponentProps<typeof Combobox.Input>['onKeyDown']>

/**
 * Controls whether the list is open. If the user was in the box before the control loaded, the focus returns to the
 * box. If the user clicked or typed there, the list opens automatically, one frame after the options have loaded. The
 * delay is needed because the list highlights a match only if it found the match while it was closed. It does not open
 * automatically if the user has pressed Escape, left the box or made a choice by then, or if the list was already
 * opened or closed. Opening it then would be unexpected, and would hide added entries from screen-reader users.
 */
function useOpen({ id, reached, options }: ControlProps) {
  const [open, setOpen] = useState(false)
  const hasOptions = options.length > 0
  useLayoutEffect(() => {
    const box = document.getElementById(id)
    if (reached.current.how === 'not' || !(box instanceof HTMLInputElement)) return
    box.focus()
    // The text is selected, so that the next keystroke replaces it.
    box.select()
  }, [reached, id])
  useEffect(() => {
    if (reached.current.how !== 'open' || !hasOptions) return
    const frame = requestAnimationFrame(() => {
      if (reached.current.how === 'open' && document.activeElement?.id === id) setOpen(true)
    })
    return () => cancelAnimationFrame(frame)
  }, [reached, hasOptions, id])
  const endWait = () => {
    if (reached.current.how === 'open') reached.current.how = 'focused'
  }
  const change = (next: boolean) => {
    endWait()
    setOpen(next)
  }
  const keepOnEscape: KeyDown = (event) => {
    if (event.key !== 'Escape') return
    endWait()
    // Without this, a second Escape would clear all choices.
    if (event.currentTarget.getAttribute('aria-expanded') !== 'true') event.preventBaseUIHandler()
  }
  return { open, change, endWait, keepOnEscape }
}

function Options({ creating }: { creating?: (choice: Choice) => boolean }) {
  const t = useText()
  return (
    <Combobox.Portal>
      <Combobox.Positioner className="z-50 outline-none" sideOffset={4}>
        <Combobox.Popup className={popupClass}>
          <Combobox.Empty className="text-sm text-muted">
            <p className="px-2 py-1.5">{t('form.noResults')}</p>
          </Combobox.Empty>
          <Combobox.List>
            {(choice: Choice) => (
              <Combobox.Item key={choice.value} value={choice} className={itemClass}>
                <Combobox.ItemIndicator className="col-start-1">
                  <Check className="size-4" />
                </Combobox.ItemIndicator>
                <span className="col-start-2 min-w-0 break-words">
                  {choice.icon}
                  {creating?.(choice) ? t('form.create', { name: choice.label }) : choice.label}
                </span>
              </Combobox.Item>
            )}
          </Combobox.List>
        </Combobox.Popup>
      </Combobox.Positioner>
    </Combobox.Portal>
  )
}

function Chip({ name }: { name: string }) {
  const t = useText()
  return (
    <Combobox.Chip
      aria-label={name}
      className="flex min-h-6 max-w-full items-center gap-0.5 rounded-sm bg-active pr-0.5 pl-1.5 text-sm outline-none focus-within:bg-tint"
    >
      <span className="truncate">{name}</span>
      <Combobox.ChipRemove
        aria-label={t('form.remove', { name })}
        className="grid size-6 place-items-center rounded-sm text-muted hover:text-fg"
      >
        <X className="size-3" />
      </Combobox.ChipRemove>
    </Combobox.Chip>
  )
}

interface MultiProps extends ControlProps {
  value: readonly string[]
  onChange(value: string[]): void
}

/** The control of `ComboboxField`; loaded when a form has one. */
export function MultiCombobox(props: MultiProps) {
  const { id, options, value, onChange, creatable = false, placeholder, disabled, invalid, describedBy } = props
  const [typed, setTyped] = useState('')
  const list = useOpen(props)
  // This is not the initial state, because React may show this control up to 300 ms after rendering it. Until then, the
  // user types into the placeholder.
  useLayoutEffect(() => setTyped(props.reached.current.typed), [props.reached])
  const known = new Map(options.map((option) => [option.value, option]))
  const chosen = value.map((each) => known.get(each) ?? { value: each, label: each })
  const word = typed.trim()
  const isNew = (choice: Choice) => creatable && !known.has(choice.value) && !value.includes(choice.value)
  const offered =
    creatable && word !== '' && !known.has(word) && !value.includes(word)
      ? [{ value: word, label: word }, ...options]
      : options
  const choose = (next: string[]) => {
    list.endWait()
    onChange(next)
    setTyped('')
  }
  const add = (text: string) => choose(withWords(value, text))
  const onBlur = () => {
    list.endWait()
    // The list adds typed text when it closes. If the text was typed before this control loaded, the list never opened,
    // so the text is added here.
    if (props.keepsTyped && !list.open && word !== '') add(word)
  }
  // The list may lag behind the typed text. Enter therefore adds the typed text unless the user moved to an entry.
  const wentTo = useRef(false)
  const onKeyDown: KeyDown = (event) => {
    list.keepOnEscape(event)
    // Ctrl+Enter would submit the form, so the typed text is added first.
    const gone = wentTo.current && !event.ctrlKey && !event.metaKey
    if (event.key !== 'Enter' || !creatable || gone || event.nativeEvent.isComposing) return
    const name = event.currentTarget.value.trim()
    if (name === '') return
    event.preventDefault()
    event.preventBaseUIHandler()
    add(name)
  }
  return (
    <Combobox.Root
      items={offered}
      multiple
      value={chosen}
      onValueChange={(next: Choice[]) => choose(next.map((choice) => choice.value))}
      inputValue={typed}
      onInputValueChange={(next) => {
        wentTo.current = false
        setTyped(next)
      }}
      open={list.open}
      onOpenChange={(next, { reason }) => {
        list.change(next)
        // The list discards the text when it closes. This is correct after Escape or a choice, but not when the user
        // leaves the field.
        const leaves = reason === 'focus-out' || reason === 'outside-press'
        if (!next && leaves && props.keepsTyped && word !== '') add(word)
      }}
      onItemHighlighted={(_, { reason }) => {
        if (reason !== 'none') wentTo.current = reason === 'keyboard'
      }}
      itemToStringLabel={sought}
      isItemEqualToValue={same}
      disabled={disabled ?? false}
      autoHighlight
    >
      <Combobox.InputGroup
        className={`${inputClass} flex h-auto! min-h-8 cursor-text flex-wrap items-center py-[3px] max-sm:min-h-10 focus-within:outline-2 focus-within:outline-ring`}
        aria-invalid={invalid || undefined}
      >
        <Combobox.Chips className="flex w-full flex-wrap items-center gap-1">
          {chosen.map((choice) => (
            <Chip key={choice.value} name={choice.label} />
          ))}
          <Combobox.Input
            id={id}
            ref={props.inputRef}
            placeholder={chosen.length > 0 ? '' : placeholder}
            aria-invalid={invalid || undefined}
            aria-describedby={describedBy}
            className="h-6 min-w-16 flex-1 bg-transparent outline-none"
            onKeyDown={onKeyDown}
            onBlur={onBlur}
            onPaste={(event) => {
              const pasted = event.clipboardData.getData('text')
              if (!creatable || !/[,\n]/.test(pasted)) return
              event.preventDefault()
              add(pasted)
            }}
          />
        </Combobox.Chips>
      </Combobox.InputGroup>
      <Options creating={isNew} />
    </Combobox.Root>
  )
}

interface SearchSelectProps extends ControlProps {
  value: string
  onChange(value: string): void
  onBlur(): void
}

/** The control of `SearchSelectField`; loaded when a form has one. */
export function SearchSelect(props: SearchSelectProps) {
  const { options, value, onChange, creatable = false } = props
  const t = useText()
  const list = useOpen(props)
  /** True if the user has just entered the box. */
  const isNew = useRef(false)
  const chosen = options.find((option) => option.value === value) ?? (value ? { value, label: value } : null)
  /**
   * The search text; undefined while the chosen option is shown. It is kept here, because the control discards it when
   * the options load.
   */
  const [typed, setTyped] = useState<string>()
  return (
    <Combobox.Root
      items={options}
      value={chosen}
      onValueChange={(next: Choice | null) => {
        setTyped(undefined)
        onChange(next?.value ?? '')
      }}
      inputValue={typed ?? chosen?.label ?? ''}
      itemToStringLabel={label}
      isItemEqualToValue={same}
      disabled={props.disabled ?? false}
      open={list.open}
      onOpenChange={(next) => {
        list.change(next)
        if (!next) setTyped(undefined)
      }}
      // If the typed text may be meant literally, Enter must not choose another option.
      autoHighlight={!creatable}
      onInputValueChange={(next, { reason }) => {
        if (reason !== 'input-change') return
        setTyped(next)
        props.onSearch?.(next)
        if (creatable) onChange(next.trim())
      }}
    >
      <div className="relative">
        <Combobox.Input
          id={props.id}
          ref={props.inputRef}
          onFocus={() => {
            isNew.current = true
          }}
          // A click puts the caret into the text of the chosen option. The text is selected, because otherwise typed
          // characters would be added to it and the search would use both.
          onClick={({ currentTarget }) => {
            if (isNew.current) currentTarget.select()
            isNew.current = false
          }}
          onBlur={() => {
            list.endWait()
            setTyped(undefined)
            props.onBlur()
          }}
          placeholder={props.placeholder}
          aria-invalid={props.invalid || undefined}
          aria-describedby={props.describedBy}
          className={`${inputClass} pr-8`}
          onKeyDown={(event) => {
            isNew.current = false
            list.keepOnEscape(event)
          }}
        />
        <Combobox.Trigger
          aria-label={t('do.open')}
          className="absolute inset-y-0 right-0 grid w-8 place-items-center text-muted hover:text-fg"
        >
          <ChevronDown className="size-4" />
        </Combobox.Trigger>
      </div>
      <Options />
    </Combobox.Root>
  )
}
