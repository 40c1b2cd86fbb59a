import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Channel } from '../../../contract/api/channel.ts'
import { SearchBox } from '../../components/data-table/search-box.tsx'
import { Badge, Status } from '../../components/ui/badge.tsx'
import { Checkbox } from '../../components/ui/checkbox.tsx'
import { Select } from '../../components/ui/select.tsx'
import { EmptyState, ErrorState, RowsSkeleton } from '../../components/ui/states.tsx'
import { useText } from '../../lib/text.ts'
import { listOf, nameOf } from './channel-parts.tsx'
import { NoChannels } from './no-channels.tsx'
import { isEnabled, mostWatched, unpricedQuery, watchedQuery } from './queries.ts'
import type { ChannelSearch } from './search.ts'

const none: ReadonlySet<string> = new Set()

/** One model, and the channels that serve it. */
interface ModelRow {
  model: string
  channels: Channel[]
  enabled: number
}

function rowsOf(channels: readonly Channel[], group: string | undefined): ModelRow[] {
  const rows = new Map<string, ModelRow>()
  for (const channel of channels) {
    if (group !== undefined && !listOf(channel.group || 'default').includes(group)) continue
    for (const model of listOf(channel.models)) {
      const row = rows.get(model) ?? { model, channels: [], enabled: 0 }
      row.channels.push(channel)
      if (isEnabled(channel)) row.enabled++
      rows.set(model, row)
    }
  }
  return [...rows.values()].sort((a, b) => a.enabled - b.enabled || a.model.localeCompare(b.model))
}

type Narrowing = Pick<ChannelSearch, 'group' | 'model' | 'problems'>

/** Lists each model with the channels that serve it. Models served by only one channel, or by none, come first. */
export function ModelsMap({ search, onNarrow }: { search: Narrowing; onNarrow(change: Narrowing): void }) {
  const { group, model = '', problems } = search
  const t = useText()
  const { data, error, isPending, refetch, isFetching } = useQuery(watchedQuery)
  const unpriced = useQuery(unpricedQuery).data ?? none
  const groups = useMemo(
    () => [...new Set((data ?? []).flatMap((channel) => listOf(channel.group || 'default')))].sort(),
    [data],
  )
  const rows = useMemo(() => rowsOf(data ?? [], group), [data, group])
  if (isPending) return <RowsSkeleton className="h-64" />
  if (error) {
    return <ErrorState title={t('table.error')} text={error.message} onRetry={() => void refetch()} busy={isFetching} />
  }
  const shown = rows.filter(
    (row) =>
      row.model.toLowerCase().includes(model.toLowerCase()) &&
      (problems === undefined || row.enabled < 2 || unpriced.has(row.model)),
  )
  return (
    <section aria-label={t('channel.view.models')}>
      <p className="pb-3 text-sm text-muted">{t('channel.map.text')}</p>
      <div className="flex flex-wrap items-center gap-3 pb-3">
        <SearchBox
          value={model}
          label={t('channel.map.filter')}
          onSearch={(text) => onNarrow({ model: text === '' ? undefined : text })}
        />
        <Select
          aria-label={t('channel.map.group')}
          value={group ?? ''}
          onChange={(event) => onNarrow({ group: event.target.value === '' ? undefined : event.target.value })}
          className="w-auto!"
        >
          <option value="">{t('channel.map.allGroups')}</option>
          {groups.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </Select>
        <label className="flex items-center gap-2 text-sm">
          <Checkbox
            checked={problems !== undefined}
            onChange={(event) => onNarrow({ problems: event.target.checked ? '1' : undefined })}
          />
          {t('channel.map.only')}
        </label>
        {data.length >= mostWatched && (
          <span className="text-sm text-muted">{t('channel.map.partial', { count: mostWatched })}</span>
        )}
      </div>
      {shown.length === 0 ? (
        <div className="rounded-lg border border-line bg-surface">
          {data.length === 0 ? <NoChannels /> : <EmptyState title={t('channel.map.empty')} />}
        </div>
      ) : (
        <MapTable rows={shown} unpriced={unpriced} />
      )}
    </section>
  )
}

/** Number of channels listed by name per model. */
const mostNamed = 12

function MapTable({ rows, unpriced }: { rows: readonly ModelRow[]; unpriced: ReadonlySet<string> }) {
  const t = useText()
  return (
    <section
      aria-label={t('table.region', { name: t('channel.view.models') })}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to reach a scrollable region
      tabIndex={0}
      className="overflow-x-auto rounded-lg border border-line bg-surface"
    >
      {/* Roles are explicit, because the card layout displays the table as blocks, which removes the implicit roles.
       */}
      <table role="table" className="data-table">
        <caption className="sr-only">{t('channel.map.text')}</caption>
        <thead role="rowgroup">
          <tr role="row">
            <th role="columnheader" scope="col">
              {t('channel.map.model')}
            </th>
            <th role="columnheader" scope="col">
              {t('channel.map.count')}
            </th>
            <th role="columnheader" scope="col">
              {t('channel.map.channels')}
            </th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr role="row" key={row.model}>
              <th
                role="rowheader"
                scope="row"
                data-card="title"
                className="sm:min-w-44 font-mono text-xs! font-normal! whitespace-normal! [overflow-wrap:anywhere]"
              >
                <span>
                  {row.model}
                  {unpriced.has(row.model) && (
                    <Link
                      to="/setting"
                      search={{ tab: 'operation' }}
                      hash="ratios"
                      className="ml-2 font-sans text-xs text-bad underline"
                    >
                      {t('channel.map.unpriced')}
                    </Link>
                  )}
                </span>
              </th>
              <td role="cell" data-card="badge">
                <Routes enabled={row.enabled} />
              </td>
              <td role="cell" className="py-2! whitespace-normal!">
                <span className="flex min-w-0 flex-wrap gap-1">
                  {row.channels.slice(0, mostNamed).map((channel) => (
                    <Serving key={channel.id} channel={channel} model={row.model} />
                  ))}
                  {row.channels.length > mostNamed && (
                    <span className="text-xs text-muted">
                      {t('channel.map.more', { count: row.channels.length - mostNamed })}
                    </span>
                  )}
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Routes({ enabled }: { enabled: number }) {
  const t = useText()
  if (enabled === 0) return <Status color="red">{t('channel.map.none')}</Status>
  if (enabled === 1) return <Status color="yellow">1 · {t('channel.map.single')}</Status>
  return <Status color="green">{enabled}</Status>
}

function mappedModel(channel: Channel, model: string): string | undefined {
  try {
    const mapped: unknown = (JSON.parse(channel.model_mapping || '{}') as Record<string, unknown>)[model]
    return typeof mapped === 'string' && mapped !== model ? mapped : undefined
  } catch {
    return undefined
  }
}

function Serving({ channel, model }: { channel: Channel; model: string }) {
  const t = useText()
  const mapped = mappedModel(channel, model)
  return (
    <Badge
      color={isEnabled(channel) ? 'green' : 'grey'}
      {...(mapped !== undefined && { title: t('channel.map.mapped', { model: mapped }) })}
    >
      {nameOf(channel, t)}
      {mapped !== undefined && ` → ${mapped}`}
    </Badge>
  )
}
