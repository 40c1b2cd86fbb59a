import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { numberFilter } from './list-query.ts'
import { timeZoneField } from './usage-table.ts'

const sum = (description: string) => z.int().check(z.describe(description))

export const statementSchema = z.object({
  month: z.string().check(z.describe('YYYY-MM.')),
  time_zone: z.string().check(z.describe('The time zone in which the month begins and ends.')),
  start: sum('First second of the month, in epoch seconds.'),
  end: sum('Last second of the month, or the time of the response if the month is not over.'),
  user: z
    .object({ id: z.int(), username: z.string(), display_name: z.string() })
    .check(z.describe('The user whose statement this is.')),
  opening: sum('Balance at the beginning of the month, in quota units, including the part that open calls held.'),
  top_ups: sum('Quota from redeemed codes, and quota that admins added as a top-up.'),
  bonuses: sum('Bonuses for registration and invitations, and the credit that the account was created with.'),
  adjustments: sum('Other changes of the balance by admins; may be negative.'),
  charges: sum('What the calls of the month cost.'),
  closing: sum('opening + top_ups + bonuses + adjustments − charges.'),
  held: sum('The part of the closing balance that open calls hold; 0 if the month is over.'),
  models: z
    .array(
      z.object({
        model: z.string(),
        requests: z.int(),
        prompt_tokens: z.int(),
        completion_tokens: z.int(),
        quota: z.int(),
        cost: z.optional(
          sum('For admins: what the operator paid for the requests whose cost is known; absent if no cost is known.'),
        ),
        margin: z.optional(sum('For admins: what was charged for the requests whose cost is known, less their cost.')),
      }),
    )
    .check(z.describe('The charges by model, highest first.')),
  is_exact: z
    .boolean()
    .check(
      z.describe(
        'False if some changes of the balance cannot be assigned to a month, so that they may be missing from this statement.',
      ),
    ),
  unknown_changes: sum('Changes of the balance that were made before amounts were recorded.'),
  unknown_charges: sum('Charges for which there never was a log row.'),
})

export type Statement = z.output<typeof statementSchema>

const emails = (description: string) => z.int().check(z.describe(description))

export const statementEmailsSchema = z.object({
  offered: z
    .boolean()
    .check(z.describe('Whether this installation sends statements by email (the option `StatementEmailEnabled`).')),
  wanted: z.boolean().check(z.describe('Whether you want statements by email; true unless you switched them off.')),
  has_address: z.boolean().check(z.describe('Whether your account has an email address to send them to.')),
  month: z.string().check(z.describe('The last complete month (UTC), YYYY-MM.')),
  counts: z
    .nullable(
      z.object({
        sent: emails('Accepted by the mail server.'),
        waiting: emails(
          'Not sent yet, or being sent; the attempt is repeated if it fails. An email stays in this count if the process ended while sending it.',
        ),
        refused: emails('Permanently rejected by the mail server, for example because the recipient is unknown.'),
      }),
    )
    .check(
      z.describe('For admins: the number of emails with the statement of `month`, by state; null for other people.'),
    ),
})

export type StatementEmails = z.output<typeof statementEmailsSchema>

export const statementApi = {
  statement: endpoint({
    method: 'GET',
    path: '/api/user/statement',
    access: 'user',
    query: z.object({
      month: z.string().check(z.regex(/^(?:19[7-9]\d|2\d{3})-(?:0[1-9]|1[0-2])$/), z.describe('YYYY-MM.')),
      user_id: numberFilter(
        Number.MAX_SAFE_INTEGER,
        'Id of the user whose statement to get; only for admins. 0 means your own.',
      ),
      time_zone: timeZoneField,
    }),
    data: statementSchema,
    summary: 'Get a monthly statement: the balance before and after, top-ups, bonuses and what was charged by model',
    description:
      "`closing` is always opening + top_ups + bonuses + adjustments − charges. The amounts of bonuses and of admins' changes are recorded only since the version that introduced this call. If an account had such changes earlier, `is_exact` is false in the statements of those months.",
  }),
  statementEmails: endpoint({
    method: 'GET',
    path: '/api/user/statement-emails',
    access: 'user',
    data: statementEmailsSchema,
    summary:
      'Get whether you receive monthly statements by email; for admins, also how many were sent for the last month',
  }),
  setStatementEmails: endpoint({
    method: 'PUT',
    path: '/api/user/statement-emails',
    access: 'user',
    body: z.object({ wanted: z.boolean().check(z.describe('Whether you want monthly statements by email.')) }),
    data: statementEmailsSchema,
    summary: 'Switch your own monthly statements by email on or off',
  }),
}
