import { type AlertKind, alertCondition } from '../../contract/alert-conditions.ts'
import { type AlertEvent, type AlertLanguage, type AlertValues, statusWord } from '../../contract/alert-text.ts'
import { quotaToCurrency } from '../../contract/quota.ts'
import { timeZone } from '../lib/time-zone.ts'
import type { Settings } from '../settings/settings.ts'
import type { AlertRuleRow } from '../store/accounts/alert-rules.ts'

const minuteSeconds = 60
const dayMinutes = 1440

/** The values of the placeholders of a message. */
export function alertValues(
  rule: AlertRuleRow,
  { event, name, value, now }: { event: AlertEvent; name: string; value: number; now: number },
  settings: Settings,
): AlertValues {
  return {
    name: rule.name,
    status: statusWord(event, rule.language),
    target: name || settings.SystemName,
    value: valueText(rule.kind, value, settings, rule.language),
    limit: valueText(rule.kind, rule.threshold, settings, rule.language),
    time: timeText(rule.time_zone, now),
    system: settings.SystemName,
    link: settings.ServerAddress === '' ? '' : `${settings.ServerAddress}/alert`,
  }
}

function valueText(kind: AlertKind, value: number, settings: Settings, language: AlertLanguage): string {
  const rounded = String(Math.round(value * 10) / 10)
  switch (alertCondition(kind).unit) {
    case 'percent':
      return `${rounded}%`
    case 'quota':
      return settings.DisplayInCurrencyEnabled
        ? quotaToCurrency(value, settings.QuotaPerUnit)
        : String(Math.round(value))
    case 'money':
      return String(Math.round(value * 100) / 100)
    case 'seconds':
      return { en: `${rounded} s`, zh: `${rounded} 秒`, ja: `${rounded} 秒` }[language]
    case 'days':
      return { en: value === 1 ? '1 day' : `${rounded} days`, zh: `${rounded} 天`, ja: `${rounded} 日` }[language]
    case 'factor':
      return rounded
    case 'none':
      return ''
  }
}

/** A time in the rule's time zone, such as `2026-11-28 09:30 (Europe/Berlin)`. */
function timeText(zoneName: string, seconds: number): string {
  const zone = timeZone(zoneName)
  const local = seconds + (zone?.offsetAt(seconds) ?? 0) * minuteSeconds
  return `${new Date(local * 1000).toISOString().slice(0, 16).replace('T', ' ')} (${zone?.name ?? 'UTC'})`
}

/** The end of the current quiet hours in epoch seconds; undefined outside of quiet hours. */
export function quietUntil(
  { quiet_start, quiet_end, time_zone }: Pick<AlertRuleRow, 'quiet_start' | 'quiet_end' | 'time_zone'>,
  now: number,
): number | undefined {
  const [start, end] = [minutesOf(quiet_start), minutesOf(quiet_end)]
  if (start === undefined || end === undefined || start === end) return undefined
  const local = now + (timeZone(time_zone)?.offsetAt(now) ?? 0) * minuteSeconds
  const minute = Math.floor(local / minuteSeconds) % dayMinutes
  const isQuiet = start < end ? minute >= start && minute < end : minute >= start || minute < end
  if (!isQuiet) return undefined
  return now - (now % minuteSeconds) + ((end - minute + dayMinutes) % dayMinutes) * minuteSeconds
}

function minutesOf(time: string): number | undefined {
  const [hours, minutes] = time.split(':').map(Number)
  return hours === undefined || minutes === undefined ? undefined : hours * 60 + minutes
}
