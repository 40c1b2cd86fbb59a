import { tokenStatus } from '../../../contract/statuses.ts'
import { FilterBar } from '../../components/data-table/filter-bar.tsx'
import { useText } from '../../lib/text.ts'
import type { SetSearch } from '../../lib/use-url-state.ts'
import type { TokenSearch } from './search.ts'
import { statusText } from './token-parts.tsx'

interface StatusFilterProps {
  search: TokenSearch
  setSearch: SetSearch<TokenSearch>
}

/** Chooses which tokens are listed: all, or those that the next request would find with a status. */
export function StatusFilter({ search, setSearch }: StatusFilterProps) {
  const t = useText()
  const narrow = (status: string | undefined) => setSearch({ status, page: undefined })
  return (
    <FilterBar
      active={search.status === undefined ? 0 : 1}
      onClear={() => narrow(undefined)}
      selects={[
        {
          label: t('table.filters.status'),
          all: t('table.filters.statuses'),
          value: search.status,
          choices: Object.values(tokenStatus).map((status) => ({
            value: String(status),
            label: statusText(status, t),
          })),
          onChange: narrow,
        },
      ]}
    />
  )
}
