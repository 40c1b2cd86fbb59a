import * as z from 'zod/mini'
import { alertKinds } from '../alert-conditions.ts'
import { destinationKindNames } from '../alert-destinations.ts'
import { alertEvents, alertLanguages, unknownPlaceholders } from '../alert-text.ts'
import type { Access } from '../roles.ts'
import { endpoint, idParams } from './endpoint.ts'
import { idField, text } from './fields.ts'
import { listQuery } from './list-query.ts'

/** The maximum number of destinations of one account, of the installation, and of a single rule. */
export const mostDestinations = { own: 5, installation: 20, perRule: 5 } as const
/** The maximum number of rules of one account, and of the installation. */
export const mostRules = { own: 20, installation: 100 } as const

const time = z.int().check(z.describe('Epoch seconds.'))

const template = (most: number) =>
  text(most).check(
    z.refine((value) => unknownPlaceholders(value).length === 0, {
      error: (issue) =>
        `has an unknown placeholder: {${unknownPlaceholders(String(issue.input)).join('}, {').slice(0, 100)}}`,
    }),
  )

const clockTime = z
  .string()
  .check(
    z.regex(/^(?:(?:[01]\d|2[0-3]):[0-5]\d)?$/, { error: 'must be a time such as 22:30, or empty' }),
    z.describe('Hours and minutes in `time_zone`, such as 22:30; empty means no quiet hours.'),
  )

const ruleFields = {
  name: text(60).check(z.trim(), z.minLength(1), z.describe('Name of the rule.')),
  enabled: z.boolean().check(z.describe('False if the rule is switched off.')),
  threshold: z
    .number()
    .check(
      z.gte(0),
      z.lte(1e15),
      z.describe(
        "The value above or below which the rule fires. Its unit depends on `kind`: percent, quota units, the provider's currency, seconds, days or a factor.",
      ),
    ),
  minutes: z
    .int()
    .check(
      z.gte(5),
      z.lte(60),
      z.describe('The last minutes over which requests are counted, for conditions that count requests.'),
    ),
  min_calls: z
    .int()
    .check(
      z.gte(1),
      z.lte(1e6),
      z.describe('The smallest number of requests in `minutes` with which the rule can fire.'),
    ),
  channel_id: z
    .int()
    .check(z.gte(0), z.lte(1e12), z.describe('Id of the only channel that the rule watches; 0 means all channels.')),
  destinations: z
    .array(idField)
    .check(z.maxLength(mostDestinations.perRule), z.describe('Ids of the destinations that get a message.')),
  title: template(120).check(z.describe('Template of the title; empty means the default template.')),
  text: template(1000).check(z.describe('Template of the text; empty means the default template.')),
  language: z.enum(alertLanguages).check(z.describe('Language of the default templates.')),
  remind_hours: z
    .int()
    .check(z.gte(0), z.lte(168), z.describe('Hours between reminders while the rule fires; 0 means no reminders.')),
  send_resolved: z.boolean().check(z.describe('True to also send a message when the condition no longer applies.')),
  quiet_start: clockTime,
  quiet_end: clockTime,
  time_zone: text(60).check(
    z.describe(
      'IANA name of the time zone, such as Europe/Berlin, for the quiet hours and for the start of the day (`daily_spend` and `own_spend`).',
    ),
  ),
}

/** A condition that currently applies. */
export const alertStateSchema = z.object({
  target: z
    .string()
    .check(
      z.describe('The target for which the rule fires, such as channel 7; empty for the installation or the account.'),
    ),
  name: z.string(),
  since: time,
  value: z.number().check(z.describe('The latest measured value.')),
})

export const alertRuleSchema = z.object({
  id: z.int(),
  kind: z.enum(alertKinds).check(z.describe('What the rule watches, such as `error_rate`.')),
  ...ruleFields,
  created_time: time,
  firing: z.array(alertStateSchema).check(z.describe('The targets for which the rule currently fires.')),
})

export type AlertRule = z.output<typeof alertRuleSchema>

const defaults = {
  enabled: z._default(ruleFields.enabled, true),
  minutes: z._default(ruleFields.minutes, 10),
  min_calls: z._default(ruleFields.min_calls, 20),
  channel_id: z._default(ruleFields.channel_id, 0),
  destinations: z._default(ruleFields.destinations, []),
  title: z._default(ruleFields.title, ''),
  text: z._default(ruleFields.text, ''),
  language: z._default(ruleFields.language, 'en'),
  remind_hours: z._default(ruleFields.remind_hours, 0),
  send_resolved: z._default(ruleFields.send_resolved, true),
  quiet_start: z._default(clockTime, ''),
  quiet_end: z._default(clockTime, ''),
  time_zone: z._default(ruleFields.time_zone, 'UTC'),
}

export const createAlertRuleBody = z.object({
  kind: z.enum(alertKinds),
  ...ruleFields,
  threshold: z._default(ruleFields.threshold, 0),
  ...defaults,
})

/** Omitted fields stay unchanged. The condition of a rule cannot be changed. */
export const updateAlertRuleBody = z.object({
  id: idField,
  name: z.optional(ruleFields.name),
  enabled: z.optional(ruleFields.enabled),
  threshold: z.optional(ruleFields.threshold),
  minutes: z.optional(ruleFields.minutes),
  min_calls: z.optional(ruleFields.min_calls),
  channel_id: z.optional(ruleFields.channel_id),
  destinations: z.optional(ruleFields.destinations),
  title: z.optional(ruleFields.title),
  text: z.optional(ruleFields.text),
  language: z.optional(ruleFields.language),
  remind_hours: z.optional(ruleFields.remind_hours),
  send_resolved: z.optional(ruleFields.send_resolved),
  quiet_start: z.optional(ruleFields.quiet_start),
  quiet_end: z.optional(ruleFields.quiet_end),
  time_zone: z.optional(ruleFields.time_zone),
})

export const alertDestinationSchema = z.object({
  id: z.int(),
  name: z.string(),
  kind: z.enum(destinationKindNames).check(z.describe('The kind of destination, such as email or a webhook.')),
  hint: z.string().check(z.describe('The part of the URL or email address that is not secret.')),
  has_secret: z.boolean().check(z.describe('True if messages are signed.')),
  created_time: time,
  last_time: z.int().check(z.describe('Epoch seconds of the last attempt; 0 means never.')),
  last_error: z.string().check(z.describe('Why the last attempt failed; empty if it succeeded.')),
})

export type AlertDestination = z.output<typeof alertDestinationSchema>

const destinationFields = {
  name: text(60).check(z.trim(), z.minLength(1), z.describe('Name of the destination.')),
  url: text(1000).check(
    z.trim(),
    z.describe('URL of the webhook or of the push server. It is stored encrypted and never returned.'),
  ),
  token: text(300).check(z.trim(), z.describe('Token or key that the service requires. It is never returned.')),
  secret: text(300).check(z.trim(), z.describe('Secret with which messages are signed. It is never returned.')),
  to: text(254).check(z.trim(), z.describe('Recipient: an email address, a chat or a topic, depending on `kind`.')),
}

export const createAlertDestinationBody = z.object({
  kind: z.enum(destinationKindNames),
  ...destinationFields,
  url: z._default(destinationFields.url, ''),
  token: z._default(destinationFields.token, ''),
  secret: z._default(destinationFields.secret, ''),
  to: z._default(destinationFields.to, ''),
})

/** Omitted and empty fields stay unchanged. */
export const updateAlertDestinationBody = z.object({
  id: idField,
  name: z.optional(destinationFields.name),
  url: z.optional(destinationFields.url),
  token: z.optional(destinationFields.token),
  secret: z.optional(destinationFields.secret),
  to: z.optional(destinationFields.to),
})

export const alertHistorySchema = z.object({
  id: z.int(),
  time,
  rule_id: z.int().check(z.describe('Id of the rule, which may have been deleted.')),
  rule_name: z.string().check(z.describe('Name of the rule when the message was made.')),
  event: z.enum(alertEvents).check(z.describe('Why the message was made, such as `firing`.')),
  target: z
    .string()
    .check(
      z.describe('The target that the message is about, such as channel 7; empty for the installation or the account.'),
    ),
  title: z.string().check(z.describe('Title of the message.')),
  text: z.string().check(z.describe('Text of the message.')),
  deliveries: z
    .array(
      z.object({
        destination: z.string().check(z.describe('Name of the destination.')),
        kind: z.enum(destinationKindNames),
        status: z
          .enum(['waiting', 'held', 'sent', 'failed'])
          .check(
            z.describe(
              '`held` until the quiet hours end; `waiting` until the first or next attempt; `sent` if the service accepted the message; `failed` if it is not tried again.',
            ),
          ),
        attempts: z.int().check(z.describe('How often sending was attempted.')),
        error: z.string().check(z.describe('Why the last attempt failed; empty if it succeeded or none was made.')),
        time: z.int().check(z.describe('Epoch seconds of the last attempt; 0 means none yet.')),
      }),
    )
    .check(z.describe('The delivery of the message to each destination.')),
})

export type AlertHistory = z.output<typeof alertHistorySchema>

/** The endpoints for the rules of the installation, or for the caller's own rules. */
function callsOf(base: '/api/alert' | '/api/alert/self', access: Access, whose: string) {
  const rule = `${base}/rule`
  const destination = `${base}/destination`
  return {
    rules: endpoint({
      method: 'GET',
      path: rule,
      access,
      data: z.array(alertRuleSchema),
      summary: `List ${whose} alert rules with their state`,
    }),
    createRule: endpoint({
      method: 'POST',
      path: rule,
      access,
      body: createAlertRuleBody,
      data: alertRuleSchema,
      summary: `Create one of ${whose} alert rules`,
    }),
    updateRule: endpoint({
      method: 'PUT',
      path: rule,
      access,
      body: updateAlertRuleBody,
      ignores: Object.keys(alertRuleSchema.shape),
      data: alertRuleSchema,
      summary: `Update one of ${whose} alert rules`,
    }),
    removeRule: endpoint({
      method: 'DELETE',
      path: `${rule}/{id}`,
      access,
      params: idParams,
      summary: `Delete one of ${whose} alert rules`,
    }),
    destinations: endpoint({
      method: 'GET',
      path: destination,
      access,
      data: z.array(alertDestinationSchema),
      summary: `List ${whose} alert destinations`,
    }),
    createDestination: endpoint({
      method: 'POST',
      path: destination,
      access,
      body: createAlertDestinationBody,
      data: z.extend(alertDestinationSchema, {
        secret: z
          .string()
          .check(z.describe('The secret that was generated for a webhook created without one. It is not shown again.')),
      }),
      summary: `Create one of ${whose} alert destinations`,
    }),
    updateDestination: endpoint({
      method: 'PUT',
      path: destination,
      access,
      body: updateAlertDestinationBody,
      ignores: Object.keys(alertDestinationSchema.shape),
      data: alertDestinationSchema,
      summary: `Update one of ${whose} alert destinations`,
    }),
    removeDestination: endpoint({
      method: 'DELETE',
      path: `${destination}/{id}`,
      access,
      params: idParams,
      summary: `Delete one of ${whose} alert destinations`,
    }),
    testDestination: endpoint({
      method: 'POST',
      path: `${destination}/{id}/test`,
      access,
      params: idParams,
      data: z.object({
        ok: z.boolean().check(z.describe('True if the service accepted the message.')),
        error: z.string().check(z.describe('Why the service did not accept it; empty if it did.')),
        elapsed_time: z.int().check(z.describe('Duration of the test in milliseconds.')),
      }),
      summary: `Send a test message to one of ${whose} alert destinations`,
      description: 'At most ten test messages an hour.',
    }),
    history: endpoint({
      method: 'GET',
      path: `${base}/history`,
      access,
      query: listQuery(['id']),
      data: z.array(alertHistorySchema),
      summary: `List the messages of ${whose} alert rules, newest first`,
    }),
  }
}

const installation = callsOf('/api/alert', 'admin', "the installation's")
const own = callsOf('/api/alert/self', 'user', "the caller's")

export const alertApi = {
  ...installation,
  selfRules: own.rules,
  selfCreateRule: own.createRule,
  selfUpdateRule: own.updateRule,
  selfRemoveRule: own.removeRule,
  selfDestinations: own.destinations,
  selfCreateDestination: own.createDestination,
  selfUpdateDestination: own.updateDestination,
  selfRemoveDestination: own.removeDestination,
  selfTestDestination: own.testDestination,
  selfHistory: own.history,
}

/** The endpoints of both scopes, with the same names in each. */
export const alertCalls = { installation, own }
