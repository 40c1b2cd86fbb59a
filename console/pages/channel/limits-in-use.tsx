import { useQuery } from '@tanstack/react-query'
import type { ChannelUse } from '../../../contract/api/channel-limits.ts'
import { Badge } from '../../components/ui/badge.tsx'
import { Button } from '../../components/ui/button.tsx'
import { UsageBar } from '../../components/usage-bar.tsx'
import { formatNumber, formatTime, useFormatSum } from '../../lib/format.ts'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { limitsQuery } from './queries.ts'

/** From this share on, a limit is shown as nearly reached. */
const nearly = 0.8

/** Shows above the board how much of its limits each channel uses. Renders nothing if no channel has limits. */
export function LimitsBoard({ onPeek }: { onPeek(id: number): void }) {
  const t = useText()
  const channels = useChannelsInUse()
  if (channels.length === 0) return null
  return (
    <section aria-label={t('channel.limits.title')} className="rounded-lg border border-line bg-surface p-4">
      <h2 className="mb-3 text-base font-medium">{t('channel.limits.title')}</h2>
      <ul className="grid gap-4 md:grid-cols-2 xl:grid-cols-3">
        {channels.map((channel) => (
          <li key={channel.id} className="min-w-0 rounded-md border border-line p-3">
            <div className="mb-2 flex flex-wrap items-center justify-between gap-2">
              <Button look="quiet" size="small" className="min-w-0" onClick={() => onPeek(channel.id)}>
                <span className="truncate">{channel.name || `#${channel.id}`}</span>
              </Button>
              <State channel={channel} />
            </div>
            <Limits channel={channel} />
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Shows in the drawer of a channel how much of its limits the channel uses. */
export function LimitsOfChannel({ id }: { id: number }) {
  const t = useText()
  const channel = useChannelsInUse().find((each) => each.id === id)
  if (!channel) return null
  return (
    <section aria-label={t('channel.limits.title')}>
      <div className="mb-2 flex flex-wrap items-center justify-between gap-2">
        <h3 className="text-sm font-medium">{t('channel.limits.title')}</h3>
        <State channel={channel} />
      </div>
      <Limits channel={channel} />
    </section>
  )
}

function useChannelsInUse(): readonly ChannelUse[] {
  const classic = useClassicServer()
  const { data } = useQuery({ ...limitsQuery, enabled: !classic })
  return data?.channels ?? []
}

function State({ channel: { draining, waiting } }: { channel: ChannelUse }) {
  const t = useText()
  return (
    <span className="flex flex-wrap gap-1">
      {draining && <Badge>{t('channel.draining')}</Badge>}
      {waiting > 0 && <Badge>{t('channel.limits.waiting', { count: waiting })}</Badge>}
    </span>
  )
}

function Limits({ channel }: { channel: ChannelUse }) {
  if (channel.limits.length === 0) return null
  return (
    <dl className="grid grid-cols-[1fr_auto] gap-x-3 gap-y-1 text-sm">
      {channel.limits.map((limit) => (
        <Meter key={`${limit.owner} ${limit.metric} ${limit.window} ${limit.models}`} limit={limit} />
      ))}
    </dl>
  )
}

function Meter({ limit }: { limit: ChannelUse['limits'][number] }) {
  const t = useText()
  const formatSum = useFormatSum()
  const { owner, metric, window, models, used, allowed, most, raise_until, resets_at, keys_full } = limit
  const format = metric === 'quota' || metric === 'cost' ? formatSum : formatNumber
  const name = [
    t(`channel.limit.metric.${metric}`),
    window !== 'now' && t(`channel.limit.window.${window}`),
    owner === 'key' && t('channel.limit.owner.key'),
    models,
  ]
    .filter((part) => typeof part === 'string' && part !== '')
    .join(' · ')
  const value = t('channel.limits.used', { used: format(used), allowed: format(allowed) })
  const share = Math.min(1, used / allowed)
  const [color, bar] =
    used >= allowed ? ['text-bad', 'fill-red'] : share >= nearly ? ['text-warn', 'fill-orange'] : ['', 'fill-accent']
  const width = Math.floor(share * 100)
  const title = [
    allowed > most && t('channel.limit.raised', { raise: format(allowed - most), time: formatTime(raise_until) }),
    keys_full > 0 && t('channel.limits.keysFull', { count: keys_full }),
    resets_at > 0 && t('channel.limits.resets', { time: formatTime(resets_at) }),
  ].filter((part) => part !== false)
  return (
    <>
      <dt className="min-w-0 break-words text-muted">
        {name}
        {title.length > 0 && <span className="num block text-xs">{title.join(' · ')}</span>}
      </dt>
      <dd className={`num text-end ${color}`}>{value}</dd>
      <UsageBar label={name} percent={width} text={value} color={bar} />
    </>
  )
}
