import type { ChannelHealth } from '../../../contract/api/channel-health.ts'
import { channelStatus } from '../../../contract/statuses.ts'
import { Strip } from '../../components/chart/strip.tsx'
import type { DotColor } from '../../components/ui/badge.tsx'
import { formatCount, formatPercent, formatTime } from '../../lib/format.ts'
import { type Text, useText } from '../../lib/text.ts'

const failingShare = 0.2
const noticeableShare = 0.05
const leastAttempts = 5

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

/** The number of attempts to call the channel in the last 24 hours. */
export function attemptsOf({ attempts }: ChannelHealth): number {
  return sum(attempts)
}

/** The share of the attempts that failed; 0 if there were none. */
export function errorRate({ attempts, failed }: ChannelHealth): number {
  return sum(failed) / Math.max(1, sum(attempts))
}

/** Whether a channel is disabled by the gateway, or too many of its attempts failed. */
export function isProblem(channel: ChannelHealth): boolean {
  if (channel.status === channelStatus.disabled) return false
  if (channel.status !== channelStatus.enabled) return true
  return attemptsOf(channel) >= leastAttempts && errorRate(channel) > failingShare
}

/** The colour of a share of failed attempts. */
export function rateColor(attempts: number, failed: number): DotColor {
  if (attempts === 0) return 'grey'
  const share = failed / attempts
  if (share > failingShare) return 'red'
  return share > noticeableShare ? 'yellow' : 'green'
}

/** The 24 hours of a channel as blocks, coloured by the share of failed attempts. */
export function HourBlocks({ channel, starts }: { channel: ChannelHealth; starts: readonly number[] }) {
  const t = useText()
  const marks = starts.map((start, index) => {
    const [attempts, failed] = [channel.attempts[index] ?? 0, channel.failed[index] ?? 0]
    const values = {
      time: formatTime(start).slice(5, 16),
      attempts: formatCount(attempts),
      failed: formatCount(failed),
    }
    return {
      id: start,
      color: rateColor(attempts, failed),
      size: attempts === 0 ? 0.15 : 1,
      title: t('channel.health.block', values),
    }
  })
  const summary = t('channel.health.summary', {
    attempts: formatCount(attemptsOf(channel)),
    failed: formatCount(sum(channel.failed)),
  })
  return <Strip marks={marks} summary={summary} />
}

/** The error rate as text; a dash if there was no traffic. */
export function rateText(channel: ChannelHealth): string {
  return attemptsOf(channel) === 0 ? '–' : formatPercent(errorRate(channel))
}

/** The time to the first byte, as p50 and p95 in seconds. */
export function firstByteText({ first_byte_p50, first_byte_p95 }: ChannelHealth, t: Text): string {
  if (first_byte_p50 === null || first_byte_p95 === null) return '–'
  const seconds = (ms: number) => t('channel.seconds', { seconds: (ms / 1000).toFixed(2) })
  return `${seconds(first_byte_p50)} / ${seconds(first_byte_p95)}`
}

/** Why the channel is disabled, or else its last failed attempt, with the time. */
export function errorOf(channel: ChannelHealth): { message: string; time: number } | undefined {
  const { status, status_reason, status_time, last_error } = channel
  if (status === channelStatus.autoDisabled && status_reason !== '')
    return { message: status_reason, time: status_time }
  return last_error ?? undefined
}
