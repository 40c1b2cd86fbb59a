import { useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { Channel } from '../../../contract/api/channel.ts'
import { balanceUnits } from '../../../contract/balance-units.ts'
import { currencyText } from '../../../contract/quota.ts'
import { channelStatus } from '../../../contract/statuses.ts'
import { ProviderMark } from '../../components/provider-mark.tsx'
import { Badge, type DotColor, Status } from '../../components/ui/badge.tsx'
import { formatNumber, formatTime } from '../../lib/format.ts'
import { type Text, useText } from '../../lib/text.ts'
import { typesQuery } from './queries.ts'

/** The display name of a channel, with a substitute for an empty name. */
export function nameOf(channel: Pick<Channel, 'name'>, t: Text): string {
  return channel.name === '' ? t('channel.none') : channel.name
}

/** The items of a comma-separated text. */
export function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** The label of a status. */
export function statusText(status: number, t: Text): string {
  if (status === channelStatus.enabled) return t('status.enabled')
  if (status === channelStatus.disabled) return t('status.disabled')
  if (status === channelStatus.autoDisabled) return t('channel.status.auto')
  return t('status.unknown')
}

/** Shows whether a channel accepts calls. */
export function ChannelStatus({ channel }: { channel: Pick<Channel, 'status'> }) {
  const t = useText()
  const { status } = channel
  const color = status === channelStatus.enabled ? 'green' : status === channelStatus.disabled ? 'red' : 'orange'
  const known = status === channelStatus.autoDisabled ? { title: t('channel.status.auto.hint') } : {}
  return (
    <Status color={status > channelStatus.autoDisabled || status < 1 ? 'grey' : color} {...known}>
      {statusText(status, t)}
    </Status>
  )
}

/** Colour of a response time in milliseconds; 0 = untested. */
export function latencyColor(ms: number): DotColor {
  if (ms === 0) return 'grey'
  if (ms <= 1000) return 'green'
  if (ms <= 3000) return 'olive'
  return ms <= 5000 ? 'yellow' : 'red'
}

/** Milliseconds as seconds with two decimals. */
export function secondsOf(ms: number): string {
  return (ms / 1000).toFixed(2)
}

/** The result of the last test: a response time or a failure. The title shows the time of the test and its error. */
export function ResponseTime({ channel }: { channel: Channel }) {
  const t = useText()
  const { test_time, test_error } = channel
  const tested = test_time > 0 ? t('channel.testedAt', { time: formatTime(test_time) }) : undefined
  const title = [tested, test_error].filter(Boolean).join('\n') || undefined
  if (test_error) {
    return (
      <Status color="red" {...(title !== undefined && { title })}>
        {t('channel.testFailed')}
      </Status>
    )
  }
  return (
    <Status color={latencyColor(channel.response_time)} {...(title !== undefined && { title })}>
      {channel.response_time === 0
        ? t('channel.untested')
        : t('channel.seconds', { seconds: secondsOf(channel.response_time) })}
    </Status>
  )
}

const azure = 3

/** Whether a channel type reports a balance. */
export function hasBalance(type: number): boolean {
  return balanceUnits[type] !== undefined
}

/** A balance in the format of its channel type. */
export function balanceText({ type, balance }: Pick<Channel, 'type' | 'balance'>, t: Text): string {
  const unit = balanceUnits[type]
  if (unit === 'dollar') return currencyText('$', balance)
  if (unit === 'yuan') return currencyText('¥', balance)
  if (unit === 'yuan/10000') return currencyText('¥', balance / 10_000)
  if (unit === 'number') return formatNumber(balance)
  return type === azure ? t('channel.balance.azure') : t('channel.balance.unsupported')
}

const colors: Readonly<Record<string, DotColor>> = {
  green: 'green',
  olive: 'olive',
  yellow: 'yellow',
  orange: 'orange',
  red: 'red',
  purple: 'purple',
  violet: 'purple',
  pink: 'red',
  blue: 'accent',
  teal: 'green',
  black: 'grey',
  grey: 'grey',
  brown: 'orange',
}

/** Returns the name of a channel type. */
export function useTypeName(): (type: number) => string {
  const t = useText()
  const { data, isPending } = useQuery(typesQuery)
  return useCallback(
    (type) => {
      const entry = data?.find((each) => each.type === type)
      if (entry) return entry.label
      return isPending ? '…' : t('type.unknown')
    },
    [t, data, isPending],
  )
}

/** The name in a list, with a badge if a configuration file manages the channel. */
export function ChannelName({ channel }: { channel: Channel }) {
  const t = useText()
  return (
    <span className="flex max-w-72 items-center sm:max-[90rem]:max-w-44 sm:max-[84rem]:max-w-32 gap-2">
      <span className="truncate">{nameOf(channel, t)}</span>
      {channel.managed_by && (
        <span title={t('channel.managed.by', { source: channel.managed_by })}>
          <Badge>{t('channel.managed')}</Badge>
        </span>
      )}
    </span>
  )
}

/** The type of a channel as a label in its colour. */
export function TypeBadge({ type }: { type: number }) {
  const types = useQuery(typesQuery)
  const name = useTypeName()
  const color = colors[types.data?.find((entry) => entry.type === type)?.color ?? ''] ?? 'grey'
  return (
    <Badge color={color} mark={<ProviderMark name={name(type)} className="-ms-1" />}>
      {name(type)}
    </Badge>
  )
}
