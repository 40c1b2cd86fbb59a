import { redemptionStatus } from '../../../contract/statuses.ts'
import { FilterBar } from '../../components/data-table/filter-bar.tsx'
import { useText } from '../../lib/text.ts'
import type { SetSearch } from '../../lib/use-url-state.ts'
import { statusText } from './code-parts.tsx'
import type { RedemptionSearch } from './search.ts'

const { unused, used, disabled } = redemptionStatus
const statuses = [unused, used, disabled].map(String)

interface StatusFilterProps {
  search: RedemptionSearch
  setSearch: SetSearch<RedemptionSearch>
}

/** Chooses which codes are listed: all codes, or the codes with one status. */
export function StatusFilter({ search, setSearch }: StatusFilterProps) {
  const t = useText()
  const narrow = (status: string | undefined) => setSearch({ status, page: undefined })
  return (
    <FilterBar
      active={search.status === undefined ? 0 : 1}
      onClear={() => narrow(undefined)}
      selects={[
        {
          label: t('redemption.status'),
          all: t('table.filters.statuses'),
          value: search.status,
          choices: statuses.map((status) => ({ value: status, label: statusText(Number(status), t) })),
          onChange: narrow,
        },
      ]}
    />
  )
}
