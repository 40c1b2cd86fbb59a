import * as z from 'zod/mini'
import { type AlertKind, alertCondition, alertKinds } from '../../../contract/alert-conditions.ts'
import { type AlertLanguage, alertLanguages, unknownPlaceholders } from '../../../contract/alert-text.ts'
import type { AlertRule } from '../../../contract/api/alert.ts'
import { text } from '../../../contract/api/fields.ts'
import { quotaPerUnit } from '../../lib/format.ts'
import type { AlertScope } from './queries.ts'

const time = z.string()
const template = (most: number) =>
  text(most).check(
    z.refine((value) => unknownPlaceholders(value).length === 0, { error: 'alert.form.template.unknown' }),
  )

const isZone = (name: string) => {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }))
  } catch {
    return false
  }
}

const fields = z.object({
  kind: z.enum(alertKinds),
  name: text(60).check(z.trim(), z.minLength(1)),
  threshold: z.number(),
  minutes: z.int().check(z.gte(5), z.lte(60)),
  min_calls: z.int().check(z.gte(1), z.lte(1_000_000)),
  channel_id: z.string(),
  destinations: z.array(z.int()).check(z.maxLength(5, { error: 'alert.form.destinations.max' })),
  remind_hours: z.string(),
  send_resolved: z.boolean(),
  quiet_start: time,
  quiet_end: time,
  time_zone: z.string().check(z.refine(isZone, { error: 'alert.form.zone.invalid' })),
  language: z.enum(alertLanguages),
  title: template(120),
  text: template(1000),
})

/** A rule that is being edited, or the initial values of a new one. */
export type RuleDraft = Partial<AlertRule> & Pick<AlertRule, 'kind' | 'name'>

/** The values of the form, in which choices from lists are text. */
export type RuleValues = z.output<typeof fields>

export const ruleSchema = fields.check(
  z.refine(({ kind, threshold }) => alertCondition(kind).unit === 'none' || threshold > 0, {
    path: ['threshold'],
    error: 'alert.form.positive',
  }),
  z.refine(({ kind, threshold }) => alertCondition(kind).unit !== 'percent' || threshold < 100, {
    path: ['threshold'],
    error: 'alert.form.percent',
  }),
  z.refine(({ quiet_start, quiet_end }) => (quiet_start === '') === (quiet_end === ''), {
    path: ['quiet_end'],
    error: 'alert.form.quiet.both',
  }),
)

/** The default threshold of a condition. */
export function usualThreshold(kind: AlertKind): number {
  const { unit, usual } = alertCondition(kind)
  return unit === 'quota' ? Math.round(usual * quotaPerUnit()) : usual
}

/** The initial values of the form. */
export function ruleValues(start: RuleDraft, language: AlertLanguage): RuleValues {
  const { kind, name } = start
  return {
    kind,
    name,
    threshold: start.threshold ?? usualThreshold(kind),
    minutes: start.minutes ?? 10,
    min_calls: start.min_calls ?? 20,
    channel_id: String(start.channel_id ?? 0),
    destinations: start.destinations ?? [],
    remind_hours: String(start.remind_hours ?? 24),
    send_resolved: start.send_resolved ?? true,
    quiet_start: start.quiet_start ?? '',
    quiet_end: start.quiet_end ?? '',
    time_zone: start.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    language: start.language ?? language,
    title: start.title ?? '',
    text: start.text ?? '',
  }
}

/** The values as the server expects them. */
export function ruleBody({ channel_id, remind_hours, ...values }: RuleValues) {
  const { channel } = alertCondition(values.kind)
  return { ...values, channel_id: channel ? Number(channel_id) : 0, remind_hours: Number(remind_hours) }
}

/** The rules that are suggested while there are no rules yet. */
export const readyRules: Readonly<Record<AlertScope, readonly AlertKind[]>> = {
  installation: ['channel_disabled', 'error_rate', 'upstream_balance'],
  own: ['own_balance', 'own_spend', 'own_token_expiry'],
}
