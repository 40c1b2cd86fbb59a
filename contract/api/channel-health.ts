import * as z from 'zod/mini'
import { endpoint, idParams } from './endpoint.ts'

const count = (description: string) => z.int().check(z.describe(description))
const perHour = (description: string) => z.array(z.int()).check(z.describe(description))
const percentile = (description: string) => z.nullable(z.int()).check(z.describe(description))

/** The health of one channel, measured from its traffic. */
export const channelHealthSchema = z.object({
  id: z.int(),
  name: z.string(),
  type: z.int(),
  group: z.string(),
  status: count('1 enabled, 2 disabled by a person, 3 disabled by the gateway.'),
  status_reason: z.string().check(z.describe('Why the gateway last changed or skipped the channel.')),
  status_time: count('When the gateway did this, in epoch seconds; 0 means never.'),
  attempts: perHour('Attempts at the channel in each hour, including those that failed.'),
  failed: perHour('Number of the attempts in each hour that failed or were interrupted.'),
  share: z
    .number()
    .check(z.describe('The share of this channel in the attempts at all channels in the last 24 hours, from 0 to 1.')),
  first_byte_p50: percentile('Median time to the first byte in milliseconds.'),
  first_byte_p95: percentile('95th percentile of the time to the first byte in milliseconds.'),
  last_error: z
    .nullable(
      z.object({
        time: count('Epoch seconds.'),
        status: count('The HTTP status of the response; 0 if there was none.'),
        message: z.string().check(z.describe('What the upstream reported, or what went wrong.')),
      }),
    )
    .check(z.describe('The last failed attempt among the newest log rows; null if there is none.')),
  balance: z.number().check(z.describe('Remaining balance that the upstream reports, in its own currency.')),
  balance_updated_time: count(
    'When the balance was last read, in epoch seconds; 0 means that the balance is not known.',
  ),
  test_time: count('Time of the last test in epoch seconds.'),
  response_time: count('Duration of the last test in milliseconds.'),
})

export type ChannelHealth = z.output<typeof channelHealthSchema>

export const timelineKinds = ['event', 'change', 'test'] as const

/** Something that happened to a channel. */
export const timelineSchema = z.object({
  time: z.int(),
  kind: z
    .enum(timelineKinds)
    .check(
      z.describe(
        '`event` is an automatic action of the gateway, `change` a change by a person, `test` a test of the channel.',
      ),
    ),
  action: z
    .string()
    .check(z.describe('The action as the audit log names it, such as channel.auto-disable; empty for a test.')),
  actor: z.string().check(z.describe('Name of the person who made the change; empty for an action of the gateway.')),
  detail: z
    .string()
    .check(z.describe('For an event, the reason; for a change, what was changed; for a failed test, why it failed.')),
  ok: z.boolean().check(z.describe('False if the test failed.')),
  model: z.string().check(z.describe('For a test: the tested model.')),
  response_time: count('Duration of the test in milliseconds.'),
})

export type TimelineEntry = z.output<typeof timelineSchema>

/** The server must register these paths before `/api/channel/{id}`, which would match some of them, too. */
export const channelHealthApi = {
  health: endpoint({
    method: 'GET',
    path: '/api/channel/health',
    access: 'admin',
    data: z.object({
      starts: z.array(z.int()).check(z.describe('Start of each of the last 24 hours in epoch seconds.')),
      channels: z.array(channelHealthSchema).check(z.describe('All channels.')),
    }),
    summary: 'Get the health of all channels in the last 24 hours, measured from their traffic',
    description:
      'Percentiles and last errors are computed from the newest 20,000 log rows of the last 24 hours. Percentiles are accurate to about 15 %. The response may be five seconds old.',
  }),
  timeline: endpoint({
    method: 'GET',
    path: '/api/channel/{id}/timeline',
    access: 'admin',
    params: idParams,
    data: z.array(timelineSchema),
    summary: 'List the last 50 events of a channel, newest first: automatic actions, changes, tests',
    description: 'Automatic actions and changes are looked up in the newest 20,000 entries of the audit log.',
  }),
}
