import { ListFilter } from 'lucide-react'
import { type ReactNode, useId, useRef, useState } from 'react'
import { useText } from '../../lib/text.ts'
import { Button } from '../ui/button.tsx'
import { Select } from '../ui/input.tsx'
import { focusFirst } from './focus-first.ts'

interface FilterBarProps {
  /** How many filters are set. */
  active: number
  onClear(): void
  children: ReactNode
}

/** The filters of a list, beside its search box; on a phone, a button opens them. */
export function FilterBar({ active, onClear, children }: FilterBarProps) {
  const t = useText()
  const [open, setOpen] = useState(false)
  const bar = useRef<HTMLDivElement>(null)
  const choices = useId()
  const clear = () => {
    // The button disappears when the last filter is cleared, so the focus moves first.
    focusFirst(bar.current)
    onClear()
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset does not shrink as its row does
    <div
      ref={bar}
      role="group"
      aria-label={t('table.filters')}
      className="flex max-w-full min-w-0 flex-wrap items-center gap-2 max-sm:contents"
    >
      {/* Without the button, a phone would show nothing but input boxes. */}
      <Button
        className="sm:hidden"
        icon={<ListFilter />}
        aria-expanded={open}
        aria-controls={choices}
        onClick={() => setOpen(!open)}
      >
        {active === 0 ? t('table.filters') : t('table.filters.on', { count: active })}
      </Button>
      <div
        id={choices}
        className={`sm:contents ${open ? 'flex basis-full flex-wrap items-center gap-2' : 'max-sm:hidden'}`}
      >
        {children}
        {/* The button keeps its space while there is nothing to clear, so that setting a filter does not shift the layout. */}
        <Button look="quiet" onClick={clear} className={active > 0 ? '' : 'invisible max-sm:hidden'}>
          {t('table.filters.clear')}
        </Button>
      </div>
    </div>
  )
}

interface FilterSelectProps {
  label: string
  /** Label of the choice for "no filter". */
  all: string
  value: string | undefined
  choices: readonly { value: string; label: string }[]
  onChange(value: string | undefined): void
  /** Takes less room, for lists with many filters. */
  slim?: boolean
}

/**
 * One filter of a list: the user chooses one of several values, or all. An unknown value from the URL is shown as it
 * is.
 */
export function FilterSelect({ label, all, value, choices, onChange, slim = false }: FilterSelectProps) {
  const isKnown = value === undefined || choices.some((choice) => choice.value === value)
  return (
    <Select
      aria-label={label}
      value={value ?? ''}
      onChange={(event) => onChange(event.target.value === '' ? undefined : event.target.value)}
      className={`${slim ? 'sm:w-34!' : 'sm:w-40!'} max-sm:w-auto! max-sm:flex-1 max-sm:basis-32`}
    >
      <option value="">{all}</option>
      {!isKnown && <option value={value}>{value}</option>}
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.label}
        </option>
      ))}
    </Select>
  )
}
