import { redemptionStatus } from '../../../contract/statuses.ts'
import { FilterBar, FilterSelect } from '../../components/data-table/filter-bar.tsx'
import { useText } from '../../lib/text.ts'
import type { SetSearch } from '../../lib/url-state.ts'
import { statusText } from './code-parts.tsx'
import { parseRedemptionSearch, type RedemptionSearch } from './search.ts'

const { unused, used, disabled } = redemptionStatus

interface StatusFilterProps {
  search: RedemptionSearch
  setSearch: SetSearch<RedemptionSearch>
}

/** Which codes are listed: all, or those of one status. */
export function StatusFilter({ search, setSearch }: StatusFilterProps) {
  const t = useText()
  const narrow = (status: string | undefined) =>
    setSearch({ status: parseRedemptionSearch({ status }).status, page: undefined })
  return (
    <FilterBar onClear={search.status === undefined ? undefined : () => narrow(undefined)}>
      <FilterSelect
        label={t('redemption.status')}
        all={t('redemption.filter.statuses')}
        value={search.status}
        choices={[unused, used, disabled].map((status) => ({ value: String(status), label: statusText(status, t) }))}
        onChange={narrow}
      />
    </FilterBar>
  )
}
