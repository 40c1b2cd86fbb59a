import { type AlertKind, alertCondition } from '../../../contract/alert-conditions.ts'
import type { AlertRule } from '../../../contract/api/alert.ts'
import { formatQuota } from '../../lib/format.ts'
import { type Text, text } from '../../lib/text.ts'

/** A value of a condition with its unit. */
export function valueText(kind: AlertKind, value: number): string {
  const number = String(Math.round(value * 100) / 100)
  switch (alertCondition(kind).unit) {
    case 'percent':
      return `${number}%`
    case 'quota':
      return formatQuota(value)
    case 'seconds':
      return `${number} s`
    case 'days':
      return text('alert.days', { count: Number(number) })
    case 'factor':
      return `${number}×`
    default:
      return number
  }
}

/** The condition of a rule as a sentence. */
export function conditionText(
  t: Text,
  {
    kind,
    threshold,
    minutes,
    min_calls: calls,
    channel_id,
  }: Pick<AlertRule, 'kind' | 'threshold' | 'minutes' | 'min_calls' | 'channel_id'>,
): string {
  const channel = channel_id === 0 ? t('alert.channel.any') : t('alert.channel.one', { id: channel_id })
  return t(`alert.when.${kind}`, { limit: valueText(kind, threshold), minutes, calls, channel })
}
