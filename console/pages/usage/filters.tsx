import { useEffect, useState } from 'react'
import { FilterBar } from '../../components/data-table/filter-bar.tsx'
import { NameBox } from '../../components/data-table/name-box.tsx'
import { isAdmin, useSessionUser } from '../../lib/session.ts'
import { useText } from '../../lib/text.ts'
import type { SetSearch } from '../../lib/use-url-state.ts'
import { isChannelId, isFor, noFilters, shownFilters, type UsageFilter } from './choices.ts'
import { filtersOf, type UsageView } from './queries.ts'
import type { UsageSearch } from './search.ts'

interface FiltersProps {
  view: UsageView
  onChange: SetSearch<UsageSearch>
}

/** The text filters of the usage page. They are applied on Enter or when the user leaves a box. */
export function Filters({ view, onChange }: FiltersProps) {
  const t = useText()
  const admin = isAdmin(useSessionUser())
  const active = Object.keys(filtersOf(view)).length
  return (
    <FilterBar active={active} onClear={() => onChange(noFilters)}>
      {shownFilters
        .filter((name) => isFor(admin, name))
        .map((name) => (
          <Filter
            key={name}
            name={name}
            label={t(`usage.filter.${name}`)}
            value={view[name]}
            onChange={(value, options) => onChange({ [name]: value === '' ? undefined : value }, options)}
          />
        ))}
    </FilterBar>
  )
}

interface FilterProps {
  name: UsageFilter
  label: string
  value: string
  onChange(value: string, options?: { replace: boolean }): void
}

function Filter({ name, label, value, onChange }: FilterProps) {
  const [typed, setTyped] = useState(value)
  // The browser's back and forward buttons and the button that clears all filters change this value.
  useEffect(() => setTyped(value), [value])
  const take = (options?: { replace: boolean }) => {
    const text = typed.trim()
    // The channel filter accepts only an id; any other text is replaced by the previous value.
    if (name === 'channel' && text !== '' && !isChannelId(text)) setTyped(value)
    else if (text !== value) onChange(text, options)
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        take()
      }}
    >
      <NameBox
        of={name === 'channel' ? undefined : name}
        label={label}
        value={typed}
        onChange={setTyped}
        onLeave={() => take({ replace: true })}
      />
    </form>
  )
}
