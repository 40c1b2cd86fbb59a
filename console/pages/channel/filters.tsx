import { useQuery } from '@tanstack/react-query'
import { channelStatus } from '../../../contract/statuses.ts'
import { FilterBar } from '../../components/data-table/filter-bar.tsx'
import { groupsQuery } from '../../lib/groups.ts'
import { useText } from '../../lib/text.ts'
import type { SetSearch } from '../../lib/use-url-state.ts'
import { statusText } from './channel-parts.tsx'
import { tagsQuery, typesQuery } from './queries.ts'
import type { ChannelSearch } from './search.ts'

/** The values of a search without filters. */
export const noFilters = {
  type: undefined,
  status: undefined,
  group: undefined,
  tag: undefined,
} as const satisfies Partial<ChannelSearch>

const statuses = Object.values(channelStatus).map(String)

/** The filters of a search in the server's format. */
export function filterOf({ type, status, group, tag }: ChannelSearch) {
  return { type, status, group, tag }
}

/** How many filters are set, not counting the search text. */
export function filterCount(search: ChannelSearch): number {
  return Object.values(filterOf(search)).filter((value) => value !== undefined).length
}

interface FiltersProps {
  search: ChannelSearch
  setSearch: SetSearch<ChannelSearch>
  /** Whether the list is visible, so that data for the filters may be loaded. */
  ready: boolean
}

/** The filters of the list: type, status, group. */
export function ChannelFilters({ search, setSearch, ready }: FiltersProps) {
  const t = useText()
  const types = useQuery(typesQuery).data ?? []
  const groups = useQuery({ ...groupsQuery, enabled: ready }).data ?? []
  const tags = useQuery({ ...tagsQuery, enabled: ready }).data ?? []
  const narrow = (change: Partial<ChannelSearch>) => setSearch({ ...change, page: undefined })
  return (
    <FilterBar
      active={filterCount(search)}
      onClear={() => narrow(noFilters)}
      selects={[
        {
          label: t('channel.type'),
          all: t('channel.filter.types'),
          value: search.type,
          choices: types.map(({ type, label }) => ({ value: String(type), label })),
          onChange: (type) => narrow({ type }),
        },
        {
          label: t('channel.status'),
          all: t('table.filters.statuses'),
          value: search.status,
          choices: statuses.map((status) => ({ value: status, label: statusText(Number(status), t) })),
          onChange: (status) => narrow({ status }),
        },
        {
          label: t('channel.group'),
          all: t('channel.map.allGroups'),
          value: search.group,
          choices: groups.map((name) => ({ value: name, label: name })),
          onChange: (group) => narrow({ group }),
        },
        ...(tags.length > 0 || search.tag !== undefined
          ? [
              {
                label: t('channel.tag'),
                all: t('channel.filter.tags'),
                value: search.tag,
                choices: tags.map((name) => ({ value: name, label: name })),
                onChange: (tag: string | undefined) => narrow({ tag }),
              },
            ]
          : []),
      ]}
    />
  )
}
