import { useQuery } from '@tanstack/react-query'
import type { Channel } from '../../../contract/api/channel.ts'
import { channelStatus } from '../../../contract/statuses.ts'
import { ErrorState, RowsSkeleton } from '../../components/ui/states.tsx'
import { formatPercent } from '../../lib/format.ts'
import { useClassicServer } from '../../lib/status.ts'
import { type Text, useText } from '../../lib/text.ts'
import { ChannelStatus, latencyColor, nameOf, ResponseTime, TypeBadge } from './channel-parts.tsx'
import { NoChannels } from './no-channels.tsx'
import { isEnabled, trafficQuery, watchedQuery } from './queries.ts'
import { TestStrip } from './test-strip.tsx'

/**
 * Sorts channels that need attention first: disabled by the gateway, failed test, slow, then all other enabled
 * channels. Channels disabled by hand come last.
 */
function urgency(channel: Channel): number {
  if (channel.status >= channelStatus.autoDisabled) return 0
  if (!isEnabled(channel)) return 5
  if (channel.test_error) return 1
  const color = latencyColor(channel.response_time)
  if (color === 'red') return 2
  return color === 'yellow' ? 3 : 4
}

/** The channel's share of calls, and the share of its attempts that succeeded. */
function trafficText(own: { share: number; succeeded: number } | undefined, t: Text): string {
  if (!own) return t('channel.board.noTraffic')
  return t('channel.board.traffic', { share: formatPercent(own.share), succeeded: formatPercent(own.succeeded) })
}

/** A card per channel with its last tests, for servers that do not measure traffic; channels with problems come first. */
export function TestBoard({ onPeek }: { onPeek(channel: Channel): void }) {
  const t = useText()
  const { data, error, isPending, refetch, isFetching } = useQuery(watchedQuery)
  const classic = useClassicServer()
  const traffic = useQuery({ ...trafficQuery, enabled: !classic })
  if (isPending) return <RowsSkeleton className="h-64" />
  if (error) {
    return <ErrorState title={t('table.error')} text={error.message} onRetry={() => void refetch()} busy={isFetching} />
  }
  if (data.length === 0) {
    return (
      <div className="rounded-lg border border-line bg-surface">
        <NoChannels />
      </div>
    )
  }
  const sorted = [...data].sort((a, b) => urgency(a) - urgency(b) || b.response_time - a.response_time)
  return (
    <ul className="grid grid-cols-[minmax(0,1fr)] gap-3 sm:grid-cols-2 lg:grid-cols-3">
      {sorted.map((channel) => (
        <li key={channel.id} className="[contain-intrinsic-size:auto_8rem] [content-visibility:auto]">
          <button
            type="button"
            onClick={() => onPeek(channel)}
            className={`flex w-full flex-col gap-2 rounded-lg border bg-surface px-4 py-3 text-start hover:bg-hover ${
              urgency(channel) < 3 ? 'border-bad' : 'border-line'
            }`}
          >
            <span className="flex w-full flex-wrap items-center justify-between gap-2">
              <span className="min-w-24 flex-1 truncate font-medium">{nameOf(channel, t)}</span>
              <span className="text-sm">
                <ChannelStatus channel={channel} />
              </span>
            </span>
            <span className="flex w-full flex-wrap items-center justify-between gap-2 text-sm">
              <TypeBadge type={channel.type} />
              <ResponseTime channel={channel} />
            </span>
            <span className="flex h-5 items-end">
              <TestStrip id={channel.id} />
            </span>
            {!classic && (
              <span className="num min-h-4 text-xs text-muted">{trafficText(traffic.data?.get(channel.id), t)}</span>
            )}
          </button>
        </li>
      ))}
    </ul>
  )
}
