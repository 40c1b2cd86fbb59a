import { formatPercent, formatRelative } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import type { BoardViewProps } from './board-table.tsx'
import { ChannelStatus, nameOf, TypeBadge } from './channel-parts.tsx'
import { errorOf, firstByteText, HourBlocks, isProblem, rateText } from './health-parts.tsx'

/** The health board as cards. */
export function BoardCards({ channels, starts, onPeek }: BoardViewProps) {
  const t = useText()
  return (
    <ul className="grid grid-cols-[minmax(0,1fr)] gap-3 sm:grid-cols-2 lg:grid-cols-3">
      {channels.map((channel) => {
        const error = errorOf(channel)
        return (
          <li key={channel.id} className="[contain-intrinsic-size:auto_9rem] [content-visibility:auto]">
            <button
              type="button"
              onClick={() => onPeek(channel.id)}
              className={`flex w-full flex-col gap-2 rounded-lg border bg-surface px-4 py-3 text-start hover:bg-hover ${
                isProblem(channel) ? 'border-bad' : 'border-line'
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
                <span className="num text-muted">{firstByteText(channel, t)}</span>
              </span>
              <HourBlocks channel={channel} starts={starts} />
              <span className="num text-xs text-muted">
                {t('channel.health.card', { rate: rateText(channel), share: formatPercent(channel.share) })}
              </span>
              <span className="block min-h-4 w-full truncate text-xs text-muted" data-verbatim>
                {error && `${formatRelative(error.time)}: ${error.message}`}
              </span>
            </button>
          </li>
        )
      })}
    </ul>
  )
}
