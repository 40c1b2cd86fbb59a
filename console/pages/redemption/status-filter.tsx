import { redemptionStatus } from '../../../contract/statuses.ts'
import { FilterBar, FilterSelect } from '../../components/data-table/filter-bar.tsx'
import { useText } from '../../lib/text.ts'
import { oneOf, type SetSearch } from '../../lib/url-state.ts'
import { statusText } from './code-parts.tsx'
import type { RedemptionSearch } from './search.ts'

const { unused, used, disabled } = redemptionStatus
const statuses = [unused, used, disabled].map(String)

/** The status that a search names; one that does not exist is none. */
export function statusOf(search: RedemptionSearch): string | undefined {
  return oneOf(search.status, statuses)
}

interface StatusFilterProps {
  search: RedemptionSearch
  setSearch: SetSearch<RedemptionSearch>
}

/** Which codes are listed: all, or those of one status. */
export function StatusFilter({ search, setSearch }: StatusFilterProps) {
  const t = useText()
  const value = statusOf(search)
  const narrow = (status: string | undefined) => setSearch({ status, page: undefined })
  return (
    <FilterBar active={value === undefined ? 0 : 1} onClear={() => narrow(undefined)}>
      <FilterSelect
        label={t('redemption.status')}
        all={t('table.filters.statuses')}
        value={value}
        choices={statuses.map((status) => ({ value: status, label: statusText(Number(status), t) }))}
        onChange={narrow}
      />
    </FilterBar>
  )
}
