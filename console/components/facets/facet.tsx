import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { type KeyboardEvent, useRef } from 'react'
import { importPart } from '../../lib/chunk.ts'
import type { FacetSearch } from '../../lib/facet-search.ts'
import { facetValues } from '../../lib/facets.ts'
import { severalText } from '../../lib/several.ts'
import { type Text, useText } from '../../lib/text.ts'
import { IconButton } from '../ui/icon-button.tsx'
import { lazyPart, OnDemand } from '../ui/on-demand.tsx'
import type { FacetPopupProps } from './facet-popup.tsx'
import { type FacetValue, type ValuesOf, valuesQuery } from './values-query.ts'

const part = lazyPart<FacetPopupProps>(async () => (await importPart(() => import('./facet-popup.tsx'))).FacetPopup)

/** How many values the button names. */
const named = 2

export interface FacetProps extends ValuesOf {
  label: string
  search: FacetSearch
  onChange(patch: FacetSearch): void
}

/** What a facet selects, such as "Model is not gpt-4o, o3"; undefined if it selects everything. */
function facetText(t: Text, label: string, values: { is: readonly string[]; not: readonly string[] }, most = named) {
  const list = (all: readonly string[]) =>
    all.length > most ? `${all.slice(0, most).join(', ')} +${all.length - most}` : all.join(', ')
  const parts = [
    ...(values.is.length > 0 ? [t('table.facet.is', { label, values: list(values.is) })] : []),
    ...(values.not.length > 0 ? [t('table.facet.not', { label, values: list(values.not) })] : []),
  ]
  return parts.length === 0 ? undefined : parts.join(' · ')
}

/** The names of a facet's values; channels have other names than values. */
function useNames({ of, range, mine }: ValuesOf, values: readonly string[]): (value: string) => string {
  const { data = [] } = useQuery({
    ...valuesQuery({ of, range, mine }, ''),
    enabled: of === 'channel' && values.length > 0,
  })
  const names = new Map(data.map(({ value, name }) => [value, name]))
  return (value) => (of === 'channel' ? names.get(value) || `#${value}` : value)
}

/** The texts of the facets that are set, for a line that sums up the filters. */
export function useFacetText({ of, range, mine, label, search }: Omit<FacetProps, 'onChange'>): string | undefined {
  const t = useText()
  const is = facetValues(search, of)
  const not = facetValues(search, `not_${of}`)
  const nameOf = useNames({ of, range, mine }, [...is, ...not])
  return facetText(t, label, { is: is.map(nameOf), not: not.map(nameOf) })
}

/**
 * A filter with several values: a button that says what it selects and opens the list of values. Backspace or the button
 * beside it removes the filter.
 */
export function Facet(props: FacetProps) {
  const { of, range, mine, label, search, onChange } = props
  const t = useText()
  const box = useRef<HTMLSpanElement>(null)
  const text = useFacetText(props)
  const isOn = text !== undefined
  const clear = () => {
    // The button beside it disappears, so the focus moves first.
    box.current?.querySelector('button')?.focus()
    onChange({ [of]: undefined, [`not_${of}`]: undefined })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isOn || (event.key !== 'Backspace' && event.key !== 'Delete')) return
    event.preventDefault()
    clear()
  }
  const trigger = (
    <button
      type="button"
      onKeyDown={onKeyDown}
      className={`inline-flex h-8 max-w-full min-w-0 items-center gap-1.5 rounded-md border px-2.5 text-sm select-none hover:bg-hover max-sm:h-10 max-sm:w-full [&_svg]:size-4 [&_svg]:shrink-0 ${
        isOn ? 'border-accent bg-tint pe-8 font-medium' : 'border-dashed border-control bg-surface text-muted'
      }`}
    >
      <span className="max-w-72 truncate">{text ?? label}</span>
    </button>
  )
  return (
    <span ref={box} className="relative inline-flex max-w-full min-w-0 max-sm:w-full">
      <OnDemand part={part} trigger={trigger} popup="dialog">
        {(Popup) => (
          <Popup
            trigger={trigger}
            of={of}
            range={range}
            mine={mine}
            label={label}
            value={facetValue(search, of)}
            onChange={(value) => onChange(patchOf(of, value))}
          />
        )}
      </OnDemand>
      {isOn && (
        <IconButton
          label={t('table.facet.remove', { label })}
          icon={<X />}
          onClick={clear}
          className="absolute end-0.5 top-1/2 size-7! -translate-y-1/2"
        />
      )}
    </span>
  )
}

function facetValue(search: FacetSearch, of: FacetProps['of']): FacetValue {
  return { is: facetValues(search, of), not: facetValues(search, `not_${of}`) }
}

function patchOf(of: FacetProps['of'], { is, not }: FacetValue): FacetSearch {
  return { [of]: severalText(is), [`not_${of}`]: severalText(not) }
}
