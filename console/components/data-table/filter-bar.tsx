import type { ReactNode } from 'react'
import { useText } from '../../lib/text.ts'
import { Button } from '../ui/button.tsx'
import { Select } from '../ui/input.tsx'

/** The choices that narrow a list, beside its search; `onClear` while one is set. */
export function FilterBar({ onClear, children }: { onClear: (() => void) | undefined; children: ReactNode }) {
  const t = useText()
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset does not shrink as its row does
    <div
      role="group"
      aria-label={t('table.filters')}
      className="flex max-w-full min-w-0 flex-wrap items-center gap-2 max-sm:grow"
    >
      {children}
      {onClear && (
        <Button look="quiet" onClick={onClear}>
          {t('table.empty.clear')}
        </Button>
      )}
    </div>
  )
}

interface FilterSelectProps {
  label: string
  /** What the choice of no filter says. */
  all: string
  value: string | undefined
  choices: readonly { value: string; label: string }[]
  onChange(value: string | undefined): void
}

/** One filter of a list: one of some values, or all. A value from the address that is no choice is shown as it is. */
export function FilterSelect({ label, all, value, choices, onChange }: FilterSelectProps) {
  const isKnown = value === undefined || choices.some((choice) => choice.value === value)
  return (
    <Select
      aria-label={label}
      value={value ?? ''}
      onChange={(event) => onChange(event.target.value === '' ? undefined : event.target.value)}
      className="sm:w-40! max-sm:w-auto! max-sm:flex-1 max-sm:basis-32"
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
