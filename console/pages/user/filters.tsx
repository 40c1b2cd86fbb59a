import { useQuery } from '@tanstack/react-query'
import { roles } from '../../../contract/roles.ts'
import { userStatus } from '../../../contract/statuses.ts'
import { FilterBar } from '../../components/data-table/filter-bar.tsx'
import { quotaPerUnit, useFormatQuota } from '../../lib/format.ts'
import { groupsQuery } from '../../lib/groups.ts'
import { useText } from '../../lib/text.ts'
import type { SetSearch } from '../../lib/use-url-state.ts'
import type { UserSearch } from './search.ts'
import { roleText, statusText } from './user-parts.tsx'

/** The values of a search without filters. */
export const noFilters = {
  role: undefined,
  status: undefined,
  group: undefined,
  below: undefined,
} as const satisfies Partial<UserSearch>

/** The filters of a search in the server's format. */
export function filterOf({ role, status, group, below }: UserSearch) {
  return { role, status, group, quota_below: below }
}

/** How many filters are set. */
export function filterCount(search: UserSearch): number {
  return Object.values(filterOf(search)).filter((value) => value !== undefined).length
}

/** Balances to choose from, in units of currency. */
const amounts = [1, 5, 20]

interface FiltersProps {
  search: UserSearch
  setSearch: SetSearch<UserSearch>
  /** Whether the list is visible, so that data for the filters may be loaded. */
  ready: boolean
}

/** The filters of the list: role, status, group, balance. */
export function UserFilters({ search, setSearch, ready }: FiltersProps) {
  const t = useText()
  const formatQuota = useFormatQuota()
  const groups = useQuery({ ...groupsQuery, enabled: ready }).data ?? []
  const narrow = (change: Partial<UserSearch>) => setSearch({ ...change, page: undefined })
  const limits = amounts.map((amount) => Math.round(amount * quotaPerUnit()))
  const balances = [
    { value: '1', label: t('user.filter.empty') },
    ...limits.map((quota) => ({
      value: String(quota),
      label: t('user.filter.below', { amount: formatQuota(quota) }),
    })),
  ]
  return (
    <FilterBar
      active={filterCount(search)}
      onClear={() => narrow(noFilters)}
      selects={[
        {
          label: t('user.role'),
          all: t('user.filter.roles'),
          value: search.role,
          choices: Object.values(roles)
            .filter((role) => role >= roles.user)
            .map((role) => ({ value: String(role), label: roleText(role, t) })),
          onChange: (role) => narrow({ role }),
        },
        {
          label: t('user.status'),
          all: t('table.filters.statuses'),
          value: search.status,
          choices: [userStatus.enabled, userStatus.disabled].map((status) => ({
            value: String(status),
            label: statusText(status, t),
          })),
          onChange: (status) => narrow({ status }),
        },
        {
          label: t('user.group'),
          all: t('user.filter.groups'),
          value: search.group,
          choices: groups.map((name) => ({ value: name, label: name })),
          onChange: (group) => narrow({ group }),
        },
        {
          label: t('user.quota'),
          all: t('user.filter.balances'),
          value: search.below,
          choices: balances,
          onChange: (below) => narrow({ below }),
        },
      ]}
    />
  )
}
