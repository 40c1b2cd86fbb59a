import { Combobox } from '@base-ui/react/combobox'
import { useQuery } from '@tanstack/react-query'
import { Check } from 'lucide-react'
import { useId, useState } from 'react'
import { maxFilterValues } from '../../../contract/filter-values.ts'
import { formatCount } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import { useLater } from '../../lib/use-later.ts'
import { inputClass } from '../ui/input.tsx'
import { IsOrNot } from './is-or-not.tsx'
import { type FacetValue, type ValuesOf, valuesQuery } from './values-query.ts'

interface Item {
  value: string
  name: string
  /** Undefined for values that were chosen or typed but not found. */
  rows: number | undefined
}

/** The props of a panel. */
export interface FacetPanelProps extends ValuesOf {
  label: string
  value: FacetValue
  onChange(value: FacetValue): void
}

const itemClass =
  'grid min-h-8 cursor-default grid-cols-[1rem_1fr_auto] items-center gap-2 rounded-md px-2 text-sm outline-none select-none data-highlighted:bg-active max-sm:min-h-10'

const isSame = (a: Item, b: Item) => a.value === b.value

/** The panel of a facet: a search box, the choice between "is" and "is not", and a list of values with checkboxes. */
export function FacetPanel({ of, range, mine, label, value, onChange }: FacetPanelProps) {
  const t = useText()
  const hintId = useId()
  const hint = of === 'project' ? t('table.facet.project.hint') : undefined
  const [mode, setMode] = useState<'is' | 'not'>(value.is.length === 0 && value.not.length > 0 ? 'not' : 'is')
  const [typed, setTyped] = useState('')
  const keyword = useLater(typed.trim())
  const { data, error, isPending } = useQuery(valuesQuery({ of, range, mine }, keyword))
  const chosen = value[mode]
  // Values that were already chosen come first. The order stays the same while the panel is open.
  const [first] = useState(chosen)
  const found: Item[] = (data ?? []).map((each) => ({ ...each, name: each.name || `#${each.value}` }))
  const items = offered({ found, first, typed: typed.trim(), isName: of !== 'channel' })
  const known = new Map(items.map((item) => [item.value, item]))
  const change = (values: readonly string[]) => {
    const next = values.slice(0, maxFilterValues)
    const other = value[mode === 'is' ? 'not' : 'is'].filter((each) => !next.includes(each))
    onChange(mode === 'is' ? { is: next, not: other } : { is: other, not: next })
  }
  const turn = (next: 'is' | 'not') => {
    setMode(next)
    if (chosen.length > 0) onChange({ is: next === 'is' ? chosen : [], not: next === 'not' ? chosen : [] })
  }
  return (
    <div className="flex w-64 max-w-full flex-col gap-2">
      <Combobox.Root
        inline
        open
        multiple
        items={items}
        filter={null}
        value={chosen.map((each) => known.get(each) ?? { value: each, name: each, rows: undefined })}
        onValueChange={(next: Item[]) => change(next.map((item) => item.value))}
        inputValue={typed}
        onInputValueChange={(next, { reason }) => reason === 'input-change' && setTyped(next)}
        itemToStringLabel={(item: Item) => item.name}
        isItemEqualToValue={isSame}
        autoHighlight
      >
        <Combobox.Input
          aria-describedby={hint === undefined ? undefined : hintId}
          aria-label={t(`table.facet.search.${of}`)}
          placeholder={t(`table.facet.search.${of}`)}
          className={inputClass}
          onKeyDown={(event) => {
            // Escape must only close the panel, without clearing the values. Backspace in an empty box removes the last
            // value.
            if (event.key === 'Escape') event.preventBaseUIHandler()
            if (event.key !== 'Backspace' || typed !== '') return
            event.preventBaseUIHandler()
            change(chosen.slice(0, -1))
          }}
        />
        {hint !== undefined && (
          <p id={hintId} className="text-xs text-muted">
            {hint}
          </p>
        )}
        <IsOrNot label={label} value={mode} onChange={turn} />
        <Combobox.List
          aria-label={label}
          className="-mx-1 max-h-60 min-h-32 overflow-y-auto overscroll-contain outline-none"
        >
          {(item: Item) => (
            <Combobox.Item key={item.value} value={item} className={itemClass}>
              <Combobox.ItemIndicator className="col-start-1">
                <Check className="size-4" />
              </Combobox.ItemIndicator>
              <span className="col-start-2 min-w-0 break-words">{item.name}</span>
              {item.rows !== undefined && (
                <span aria-hidden="true" className="num text-xs text-muted">
                  {formatCount(item.rows)}
                </span>
              )}
            </Combobox.Item>
          )}
        </Combobox.List>
        <p role="status" className="text-sm text-muted empty:hidden">
          {stateText()}
        </p>
      </Combobox.Root>
    </div>
  )

  function stateText() {
    if (error) return error.message
    if (items.length === 0) return isPending ? '' : t('table.facet.none')
    return chosen.length >= maxFilterValues ? t('table.facet.most', { count: maxFilterValues }) : ''
  }
}

interface Offer {
  found: readonly Item[]
  /** Values that were chosen when the panel opened. */
  first: readonly string[]
  typed: string
  /** Whether typed text is accepted as a value even if it was not found. */
  isName: boolean
}

function offered({ found, first, typed, isName }: Offer): Item[] {
  if (typed === '') {
    const before = first.map((value) => found.find((item) => item.value === value) ?? unknown(value, isName))
    return [...before, ...found.filter((item) => !first.includes(item.value))]
  }
  const isFound = found.some((item) => item.name === typed)
  return isName && !isFound ? [...found, unknown(typed, true)] : [...found]
}

const unknown = (value: string, isName: boolean): Item => ({
  value,
  name: isName ? value : `#${value}`,
  rows: undefined,
})
