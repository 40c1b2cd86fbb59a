import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ChannelHealth } from '../../../contract/api/channel-health.ts'
import { channelStatus } from '../../../contract/statuses.ts'
import { FilterBar } from '../../components/data-table/filter-bar.tsx'
import { Button } from '../../components/ui/button.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import { EmptyState, ErrorState, RowsSkeleton } from '../../components/ui/states.tsx'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { useFocusInPlace } from '../../lib/use-focus-in-place.ts'
import type { SetSearch } from '../../lib/use-url-state.ts'
import { BoardCards } from './board-cards.tsx'
import { BoardTable } from './board-table.tsx'
import { listOf, useTypeName } from './channel-parts.tsx'
import { attemptsOf, errorRate, isProblem } from './health-parts.tsx'
import { LimitsBoard } from './limits-in-use.tsx'
import { NoChannels } from './no-channels.tsx'
import { healthQuery, limitsQuery } from './queries.ts'
import type { ChannelSearch } from './search.ts'
import { TestBoard } from './test-board.tsx'

interface BoardProps {
  search: ChannelSearch
  setSearch: SetSearch<ChannelSearch>
  onPeek(id: number): void
}

/** The health of the channels in the last 24 hours, measured from their traffic. Channels with problems come first. */
export function HealthBoard({ search, setSearch, onPeek }: BoardProps) {
  const t = useText()
  const classic = useClassicServer()
  const { data, error, refetch, isFetching } = useQuery({ ...healthQuery, enabled: !classic })
  // The board waits for the limits, because they are shown above it and would make it jump.
  const limits = useQuery({ ...limitsQuery, enabled: !classic })
  if (classic || data === null) return <TestBoard onPeek={({ id }) => onPeek(id)} />
  if (error && !data) {
    return <ErrorState title={t('table.error')} text={error.message} onRetry={() => void refetch()} busy={isFetching} />
  }
  if (!data || limits.isPending) return <RowsSkeleton className="h-96" />
  if (data.channels.length === 0) {
    return (
      <div className="rounded-lg border border-line bg-surface">
        <NoChannels />
      </div>
    )
  }
  return <Board {...{ search, setSearch, onPeek }} starts={data.starts} channels={data.channels} />
}

/** The number of channels drawn at first, because drawing a long table takes time. */
const shownAtFirst = 100

/** Channels that the gateway disabled come first, then those with the highest error rate, then the busiest. */
function order(a: ChannelHealth, b: ChannelHealth): number {
  const isOff = ({ status }: ChannelHealth) => Number(status === channelStatus.autoDisabled)
  const problem = (channel: ChannelHealth) => (isProblem(channel) ? errorRate(channel) + 1 : 0)
  return isOff(b) - isOff(a) || problem(b) - problem(a) || attemptsOf(b) - attemptsOf(a) || a.id - b.id
}

function Board(props: BoardProps & { starts: readonly number[]; channels: readonly ChannelHealth[] }) {
  const { search, setSearch, onPeek, starts, channels } = props
  const t = useText()
  const [unfolded, setUnfolded] = useState(false)
  const [whole, setWhole] = useState(false)
  const inPlace = useFocusInPlace()
  const matching = channels
    .filter(
      (channel) =>
        (search.type === undefined || String(channel.type) === search.type) &&
        (search.group === undefined || listOf(channel.group).includes(search.group)) &&
        (search.problems === undefined || isProblem(channel)),
    )
    .sort(order)
  const disabled = matching.filter(({ status }) => status === channelStatus.disabled)
  const shown = unfolded ? matching : matching.filter(({ status }) => status !== channelStatus.disabled)
  const View = search.cards === undefined ? BoardTable : BoardCards
  return (
    <div {...inPlace} className="flex flex-col gap-3">
      <LimitsBoard onPeek={onPeek} />
      <Filters channels={channels} search={search} setSearch={setSearch} />
      {shown.length === 0 && disabled.length === 0 ? (
        <div className="rounded-lg border border-line bg-surface">
          <EmptyState
            title={t(search.problems === undefined ? 'channel.health.noMatch' : 'channel.health.noProblem')}
          />
        </div>
      ) : (
        <View channels={whole ? shown : shown.slice(0, shownAtFirst)} starts={starts} onPeek={onPeek} />
      )}
      {!whole && shown.length > shownAtFirst && (
        <p>
          <Button look="quiet" size="small" onClick={() => setWhole(true)}>
            {t('channel.timeline.more', { count: shown.length })}
          </Button>
        </p>
      )}
      {disabled.length > 0 && (
        <p>
          <Button look="quiet" size="small" aria-expanded={unfolded} onClick={() => setUnfolded(!unfolded)}>
            {t(unfolded ? 'channel.health.fold' : 'channel.health.unfold', { count: disabled.length })}
          </Button>
        </p>
      )}
    </div>
  )
}

function Filters(props: Pick<BoardProps, 'search' | 'setSearch'> & { channels: readonly ChannelHealth[] }) {
  const { search, setSearch, channels } = props
  const t = useText()
  const typeName = useTypeName()
  const types = [...new Set(channels.map(({ type }) => type))].sort((a, b) => a - b)
  const groups = [...new Set(channels.flatMap(({ group }) => listOf(group)))].sort()
  const none = { type: undefined, group: undefined, problems: undefined }
  const active = [search.type, search.group, search.problems].filter((value) => value !== undefined).length
  const views = [
    { value: 'table', label: t('channel.health.table') },
    { value: 'cards', label: t('channel.health.cards') },
  ] as const
  return (
    <div className="flex flex-wrap items-center justify-between gap-3">
      <FilterBar
        active={active}
        onClear={() => setSearch(none)}
        selects={[
          {
            label: t('channel.type'),
            all: t('channel.filter.types'),
            value: search.type,
            choices: types.map((type) => ({ value: String(type), label: typeName(type) })),
            onChange: (type) => setSearch({ type }),
          },
          {
            label: t('channel.group'),
            all: t('channel.map.allGroups'),
            value: search.group,
            choices: groups.map((name) => ({ value: name, label: name })),
            onChange: (group) => setSearch({ group }),
          },
          {
            label: t('channel.health.which'),
            all: t('channel.health.all'),
            value: search.problems,
            choices: [{ value: '1', label: t('channel.health.problems') }],
            onChange: (value) => setSearch({ problems: value === undefined ? undefined : '1' }),
          },
        ]}
      />
      <Segmented
        label={t('channel.health.view')}
        options={views}
        value={search.cards === undefined ? 'table' : 'cards'}
        onChange={(view) => setSearch({ cards: view === 'cards' ? '1' : undefined }, { replace: true })}
      />
    </div>
  )
}
