import * as z from 'zod/mini'
import { capMetrics, capModels, capOwners, capWindows, mostCaps } from '../caps.ts'
import { endpoint } from './endpoint.ts'
import { maxQuota, text } from './fields.ts'

/** The maximum number of wildcards in one pattern. More would make matching slow. */
const mostWildcards = 4

const amount = z.int().check(z.gte(0), z.lte(maxQuota))

/** A limit of a channel, or of each of its keys. */
export const channelLimitSchema = z.object({
  owner: z
    ._default(z.enum(capOwners), 'channel')
    .check(z.describe('`channel`: the channel as a whole. `key`: each of its keys separately.')),
  metric: z
    .enum(capMetrics)
    .check(
      z.describe(
        'What is counted. calls: concurrent calls. quota: charged quota units. cost: what the requests cost the operator or, if that is not known, the charged quota units.',
      ),
    ),
  window: z
    .enum(capWindows)
    .check(
      z.describe(
        'The period that the limit covers. minute, hour and 5h: the last minute, hour or five hours. day, week (from Monday) and month: the current calendar period. ever: all time. now: the present moment; only for `calls`.',
      ),
    ),
  models: z._default(
    text(2000).check(
      z.refine((value) => capModels(value).every((each) => each.split('*').length <= mostWildcards + 1), {
        error: `may have at most ${mostWildcards} asterisks in one pattern`,
      }),
      z.describe(
        'Comma-separated names and patterns (`claude-*`) of models as they are sent upstream; empty for all models.',
      ),
    ),
    '',
  ),
  most: z.int().check(z.gte(1), z.lte(maxQuota), z.describe('The limit: how much is allowed in the window.')),
  raise: z._default(amount, 0).check(z.describe('How much is allowed in addition to `most` until `raise_until`.')),
  raise_until: z
    ._default(amount, 0)
    .check(z.describe('When the raise ends, in epoch seconds; 0 means that there is no raise.')),
  zone: z
    ._default(text(64), 'UTC')
    .check(
      z.describe(
        "Time zone of calendar windows: UTC, or the installation's own (`local_zone` in `GET /api/channel/limits`).",
      ),
    ),
})

export type ChannelLimit = z.output<typeof channelLimitSchema>

/** The limits of a channel in a request body. They replace all of the channel's current limits. */
export const channelLimitsField = z.array(channelLimitSchema).check(z.maxLength(mostCaps))

const limitUse = z.extend(channelLimitSchema, {
  allowed: z.int().check(z.describe('`most` or, until `raise_until`, `most` + `raise`.')),
  used: z
    .int()
    .check(
      z.describe('How much has been counted in the current window. For limits of keys: the highest count of any key.'),
    ),
  keys_full: z.int().check(z.describe('For limits of keys: how many keys are at the limit.')),
  resets_at: z.int().check(z.describe('End of the calendar window in epoch seconds; 0 for other windows.')),
})

/** How much of each of its limits a channel currently uses. */
export const channelUseSchema = z.object({
  id: z.int(),
  name: z.string(),
  type: z.int(),
  status: z.int().check(z.describe('1 enabled, 2 disabled by a person, 3 disabled by the gateway.')),
  draining: z.boolean().check(z.describe('True if the channel takes no new sessions.')),
  waiting: z
    .int()
    .check(
      z.describe(
        'Number of calls that wait until a limit of the channel allows them. A call that waits for several channels is counted for each of them.',
      ),
    ),
  limits: z.array(limitUse).check(z.describe('The limits, and how much of them is in use.')),
})

export type ChannelUse = z.output<typeof channelUseSchema>

/** The server must register this path before `/api/channel/{id}`, which would match it, too. */
export const channelLimitsApi = {
  limits: endpoint({
    method: 'GET',
    path: '/api/channel/limits',
    access: 'admin',
    data: z.object({
      local_zone: z.string().check(z.describe("The installation's time zone.")),
      channels: z.array(channelUseSchema).check(z.describe('Channels that have limits or take no new sessions.')),
    }),
    summary: 'Get how much of the limits of channels and keys is in use now, and how many calls are waiting',
  }),
}
