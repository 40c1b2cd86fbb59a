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
    .check(z.describe('Whose statement it is.')),
  opening: sum('Balance at the beginning, in quota units. The part held by open calls is included.'),
  top_ups: sum('Codes redeemed, and quota that admins gave as a top-up.'),
  bonuses: sum('Bonuses for registration and invitations, and the credit that the account was created with.'),
  adjustments: sum('Changes of the balance by admins; may be negative.'),
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
        cost: z.optional(sum('For admins: what the requests with a known cost cost; absent if none is known.')),
        margin: z.optional(sum('For admins: what was charged for these requests, less their cost.')),
      }),
    )
    .check(z.describe('The charges by model, highest first.')),
  is_exact: z
    .boolean()
    .check(
      z.describe(
        'False if some changes of the balance cannot be assigned to a month, so that the balances may be off by them.',
      ),
    ),
  unknown_changes: sum('Changes of the balance that were made before amounts were recorded.'),
  unknown_charges: sum('Charges for which there never was a log row.'),
})

export type Statement = z.output<typeof statementSchema>

const emails = (description: string) => z.int().check(z.describe(description))

export const statementEmailsSchema = z.object({
  offered: z.boolean().check(z.describe('Whether this installation sends statements: `StatementEmailEnabled`.')),
  wanted: z.boolean().check(z.describe('Whether you want them; true unless you switched them off.')),
  has_address: z.boolean().check(z.describe('Whether your account has an email address to send them to.')),
  month: z.string().check(z.describe('The past month (UTC), YYYY-MM.')),
  counts: z
    .nullable(
      z.object({
        sent: emails('Accepted by the mail server.'),
        waiting: emails(
          'Put off, or in progress; they are tried again. An email stays here if the process died while sending it.',
        ),
        refused: emails('Permanently rejected, such as unknown recipients.'),
      }),
    )
    .check(z.describe('For admins: the emails of the past month; null for other people.')),
})

export type StatementEmails = z.output<typeof statementEmailsSchema>

export const statementApi = {
  statement: endpoint({
    method: 'GET',
    path: '/api/user/statement',
    access: 'user',
    query: z.object({
      month: z.string().check(z.regex(/^(?:19[7-9]\d|2\d{3})-(?:0[1-9]|1[0-2])$/), z.describe('YYYY-MM.')),
      user_id: numberFilter(Number.MAX_SAFE_INTEGER, 'Whose statement; for admins. 0 means your own.'),
      time_zone: timeZoneField,
    }),
    data: statementSchema,
    summary: 'Get a monthly statement: the balance before and after, top-ups, bonuses and what was charged by model',
    description:
      "opening + top_ups + bonuses + adjustments − charges is always closing. Amounts of bonuses and of admins' changes have been recorded since the version that introduced this call; if an account had such changes before, the statements of earlier months say so with `is_exact` false.",
  }),
  statementEmails: endpoint({
    method: 'GET',
    path: '/api/user/statement-emails',
    access: 'user',
    data: statementEmailsSchema,
    summary:
      'Get whether you receive monthly statements by email; for admins, also how many of the past month went out',
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
