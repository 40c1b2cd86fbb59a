import type { ReactNode } from 'react'
import type { ChannelHealth } from '../../../contract/api/channel-health.ts'
import { channelStatus } from '../../../contract/statuses.ts'
import { Status } from '../../components/ui/badge.tsx'
import { Button } from '../../components/ui/button.tsx'
import { formatPercent, formatRelative, formatTime } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import { test, toggleChannel } from './actions.tsx'
import { balanceText, ChannelStatus, hasBalance, nameOf, TypeBadge } from './channel-parts.tsx'
import { attemptsOf, errorOf, errorRate, firstByteText, HourBlocks, rateColor, rateText } from './health-parts.tsx'
import { isEnabled } from './queries.ts'

/** The props of the table and of the cards. */
export interface BoardViewProps {
  channels: readonly ChannelHealth[]
  starts: readonly number[]
  onPeek(id: number): void
}

/** The health board as a table. */
export function BoardTable({ channels, starts, onPeek }: BoardViewProps) {
  const t = useText()
  return (
    <section
      aria-label={t('channel.view.board')}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the table may be scrolled sideways by the keyboard
      tabIndex={0}
      className="relative overflow-x-auto rounded-lg border border-line bg-surface"
    >
      <table className="w-full min-w-[960px] text-sm">
        <thead className="text-muted">
          <tr className="border-b border-line">
            <Head>{t('channel.name')}</Head>
            <Head>{t('channel.health.hours')}</Head>
            <Head end>{t('channel.health.rate')}</Head>
            <Head end>{t('channel.health.firstByte')}</Head>
            <Head end>{t('channel.health.share')}</Head>
            <Head>
              <span className="block w-36">{t('channel.health.lastError')}</span>
            </Head>
            <Head end>{t('channel.balance')}</Head>
            <Head>
              <span className="sr-only">{t('channel.health.acts')}</span>
            </Head>
          </tr>
        </thead>
        <tbody>
          {channels.map((channel) => (
            <Row key={channel.id} channel={channel} starts={starts} onPeek={onPeek} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Head({ end = false, children }: { end?: boolean; children: ReactNode }) {
  return (
    <th scope="col" className={`px-2 py-2 font-medium whitespace-nowrap first:ps-4 ${end ? 'text-end' : 'text-start'}`}>
      {children}
    </th>
  )
}

function Row({ channel, starts, onPeek }: { channel: ChannelHealth } & Omit<BoardViewProps, 'channels'>) {
  const t = useText()
  const error = errorOf(channel)
  const attempts = attemptsOf(channel)
  return (
    <tr className="border-t border-line first:border-t-0 hover:bg-hover">
      <th scope="row" className="ps-4 pe-2 py-2 text-start font-medium">
        <button
          type="button"
          className="block max-w-44 truncate text-start hover:underline"
          title={channel.name}
          onClick={() => onPeek(channel.id)}
        >
          {nameOf(channel, t)}
        </button>
        <span className="mt-1 flex items-center gap-2 font-normal">
          <TypeBadge type={channel.type} />
          {channel.status !== channelStatus.enabled && <ChannelStatus channel={channel} />}
        </span>
      </th>
      <td className="px-2 py-2">
        <HourBlocks channel={channel} starts={starts} />
      </td>
      <td className="num px-2 py-2 text-end whitespace-nowrap">
        <Status color={rateColor(attempts, attempts * errorRate(channel))}>{rateText(channel)}</Status>
      </td>
      <td className="num px-2 py-2 text-end whitespace-nowrap">{firstByteText(channel, t)}</td>
      <td className="num px-2 py-2 text-end">{formatPercent(channel.share)}</td>
      <td className="w-full max-w-0 px-2 py-2">
        {error && (
          <>
            <span className="block truncate" title={error.message} data-verbatim>
              {error.message}
            </span>
            <time className="block text-xs text-muted" title={formatTime(error.time)}>
              {formatRelative(error.time)}
            </time>
          </>
        )}
      </td>
      <td className="num px-2 py-2 text-end whitespace-nowrap">
        {hasBalance(channel.type) && channel.balance_updated_time > 0 ? balanceText(channel, t) : '–'}
      </td>
      <td className="px-2 py-2">
        <Acts channel={channel} />
      </td>
    </tr>
  )
}

function Acts({ channel }: { channel: ChannelHealth }) {
  const t = useText()
  // If a call fails, it shows its own error.
  const quietly = (work: Promise<unknown>) => void work.catch(() => undefined)
  return (
    <span className="flex justify-end gap-1.5">
      <Button size="small" onClick={() => quietly(test(channel))}>
        {t('channel.test')}
      </Button>
      {!isEnabled(channel) && (
        <Button size="small" onClick={() => quietly(toggleChannel(channel))}>
          {t('do.enable')}
        </Button>
      )}
    </span>
  )
}
