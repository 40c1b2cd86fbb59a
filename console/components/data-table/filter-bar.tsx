import { ListFilter, X } from 'lucide-react'
import { type ReactNode, Suspense, useRef, useState } from 'react'
import { lazy } from '../../lib/lazy.ts'
import { useScreen } from '../../lib/screen.ts'
import { useText } from '../../lib/text.ts'
import { Button } from '../ui/button.tsx'
import { Select } from '../ui/select.tsx'
import { focusFirst } from './focus-first.ts'

const FilterSheet = lazy(() => import('../ui/filter-sheet.tsx').then((it) => ({ default: it.FilterSheet })))

interface FilterBarProps {
  /** How many filters are set. */
  active: number
  onClear(): void
  /** For lists with many filters: the filters share the lines of the search box and the toolbar's buttons, and wrap. */
  flows?: boolean
  /** Filters with one value each. */
  selects?: readonly FilterSelectProps[]
  /** Other filters. */
  children?: ReactNode
  /** On a phone, the chips of the other filters that are set. */
  chips?: ReactNode
  /** On a phone, shown below the filters. */
  extra?: ReactNode
}

/**
 * The filters of a list, beside its search box. On a phone, a button opens the filters, and chips show which are set.
 */
export function FilterBar(props: FilterBarProps) {
  const { active, onClear, flows = false, selects = [], children } = props
  const t = useText()
  const isWide = useScreen('sm')
  const bar = useRef<HTMLDivElement>(null)
  const clear = () => {
    // The button disappears when the last filter is cleared, so the focus moves first.
    focusFirst(bar.current)
    onClear()
  }
  const controls = (
    <>
      {selects.map((select) => (
        <FilterSelect key={select.label} {...select} />
      ))}
      {children}
    </>
  )
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset does not shrink with its row
    <div
      ref={bar}
      role="group"
      aria-label={t('table.filters')}
      className={`flex max-w-full min-w-0 flex-wrap items-center gap-2 ${flows ? 'sm:contents' : ''}`}
    >
      {isWide ? (
        <>
          {controls}
          {/* If there is nothing to clear, the button is invisible but keeps its space, so that setting a filter does
              not shift the layout. */}
          <Button look="quiet" onClick={clear} className={active > 0 ? '' : 'invisible'}>
            {t('table.filters.clear')}
          </Button>
        </>
      ) : (
        <OnPhone {...props} controls={controls} onClear={clear} />
      )}
    </div>
  )
}

function OnPhone(props: FilterBarProps & { controls: ReactNode }) {
  const { active, onClear, selects = [], controls, chips, extra } = props
  const t = useText()
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button icon={<ListFilter />} aria-haspopup="dialog" aria-expanded={open} onClick={() => setOpen(true)}>
        {active === 0 ? t('table.filters') : t('table.filters.on', { count: active })}
      </Button>
      {selects.flatMap(({ label, value, choices, onChange }) =>
        value === undefined
          ? []
          : [
              <FilterChip
                key={label}
                label={label}
                text={t('table.filter.is', {
                  label,
                  value: choices.find((each) => each.value === value)?.label ?? value,
                })}
                onRemove={() => onChange(undefined)}
              />,
            ],
      )}
      {chips}
      {open && (
        <Suspense fallback={null}>
          <FilterSheet active={active} onClear={onClear} onClose={() => setOpen(false)}>
            {controls}
            {extra}
          </FilterSheet>
        </Suspense>
      )}
    </>
  )
}

interface FilterChipProps {
  label: string
  text: string
  onRemove(): void
}

/** On a phone: a filter that is set, with a button that removes it. */
export function FilterChip({ label, text, onRemove }: FilterChipProps) {
  const t = useText()
  return (
    <button
      type="button"
      aria-label={`${text}. ${t('table.facet.remove', { label })}`}
      onClick={onRemove}
      className="inline-flex min-h-9 max-w-full min-w-0 items-center gap-1 rounded-md border border-accent bg-tint px-2.5 text-sm"
    >
      <span className="truncate">{text}</span>
      <X aria-hidden="true" className="size-4 shrink-0" />
    </button>
  )
}

export interface FilterSelectProps {
  label: string
  /** The label of the choice that removes the filter. */
  all: string
  value: string | undefined
  choices: readonly { value: string; label: string }[]
  onChange(value: string | undefined): void
  /** For lists with many filters: takes less space. */
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
      className={slim ? 'sm:w-34!' : 'sm:w-40!'}
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
