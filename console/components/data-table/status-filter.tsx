import { type Text, useText } from '../../lib/text.ts'
import { FilterBar } from './filter-bar.tsx'

interface StatusFilterProps {
  label: string
  statuses: readonly number[]
  /** Returns the name of a status. */
  nameOf(status: number, t: Text): string
  search: { status?: string | undefined }
  setSearch(change: { status: string | undefined; page: undefined }): void
}

/** Filters a list by status: all rows, or only rows with one status. */
export function StatusFilter({ label, statuses, nameOf, search, setSearch }: StatusFilterProps) {
  const t = useText()
  const choose = (status: string | undefined) => setSearch({ status, page: undefined })
  return (
    <FilterBar
      active={search.status === undefined ? 0 : 1}
      onClear={() => choose(undefined)}
      selects={[
        {
          label,
          all: t('table.filters.statuses'),
          value: search.status,
          choices: statuses.map((status) => ({ value: String(status), label: nameOf(status, t) })),
          onChange: choose,
        },
      ]}
    />
  )
}
