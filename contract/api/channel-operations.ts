import * as z from 'zod/mini'
import { endpoint, idParams } from './endpoint.ts'
import { idField, trimmedText } from './fields.ts'

/** The maximum number of channels that one batch can change. */
export const maxBatch = 1000

export const batchActions = ['enable', 'disable', 'delete', 'edit'] as const

/** `edit` writes the fields that are sent; the other actions take no fields. */
export const batchBody = z.object({
  ids: z.array(idField).check(z.minLength(1, { error: 'names no channel' }), z.maxLength(maxBatch)),
  action: z.enum(batchActions),
  priority: z.optional(z.int().check(z.gte(-1_000_000_000), z.lte(1_000_000_000))),
  weight: z.optional(z.int().check(z.gte(0), z.lte(1_000_000))),
  models: z.optional(z.string().check(z.maxLength(100_000))),
  group: z.optional(z.string().check(z.maxLength(2000))),
})

/** One test of a channel in its history. */
export const channelTestSchema = z.object({
  /** Epoch seconds. */
  time: z.number(),
  model: z.string(),
  ok: z.boolean(),
  /** Milliseconds. */
  response_time: z.int(),
  /** Why the test failed; empty if it succeeded. */
  message: z.string(),
})

/** Progress of the run over all channels, or the result of the last one. Times are epoch seconds, 0 = never. */
export const testProgressSchema = z.object({
  running: z.boolean(),
  total: z.int(),
  done: z.int(),
  failed: z.int(),
  started_at: z.int(),
  finished_at: z.int(),
})

export type TestProgress = z.output<typeof testProgressSchema>

/** The health of one key of a channel; the key itself is never shown. */
export const channelKeySchema = z.object({
  /** Position in the list of keys, from 1. */
  index: z.int(),
  healthy: z.boolean(),
  /** Why the key was paused, and when (epoch seconds). */
  reason: z.string(),
  since: z.int(),
})

/**
 * Operations on channels other than reading and writing them. The server must register these paths before
 * `/api/channel/{id}`, which would match some of them, too.
 */
export const channelOperations = {
  testProgress: endpoint({
    method: 'GET',
    path: '/api/channel/test/progress',
    access: 'admin',
    data: testProgressSchema,
    summary: 'Get the progress of the running test of all channels, or the result of the last such test',
  }),
  tests: endpoint({
    method: 'GET',
    path: '/api/channel/{id}/tests',
    access: 'admin',
    params: idParams,
    data: z.array(channelTestSchema),
    summary: 'List the last 20 tests of a channel, newest first',
  }),
  updateAllBalances: endpoint({
    method: 'GET',
    path: '/api/channel/update_balance',
    access: 'admin',
    changesState: true,
    summary:
      'Update the balances of all enabled channels from their upstreams; responds after 30 seconds at the latest',
  }),
  updateBalance: endpoint({
    method: 'GET',
    path: '/api/channel/update_balance/{id}',
    access: 'admin',
    changesState: true,
    envelope: 'flat',
    params: idParams,
    data: z.object({ balance: z.number() }),
    summary: "Update the balance of a channel from its upstream; `balance` is in the upstream's own currency",
  }),
  upstreamModels: endpoint({
    method: 'GET',
    path: '/api/channel/{id}/upstream_models',
    access: 'admin',
    params: idParams,
    data: z.array(z.string()),
    summary: 'List the models that the upstream reports',
  }),
  copy: endpoint({
    method: 'POST',
    path: '/api/channel/{id}/copy',
    access: 'admin',
    params: idParams,
    body: z.object({ name: z.optional(trimmedText(100)) }),
    data: z.int(),
    summary: 'Copy a channel, including its keys; returns the id of the copy',
  }),
  batch: endpoint({
    method: 'POST',
    path: '/api/channel/batch',
    access: 'admin',
    body: batchBody,
    data: z.int(),
    summary:
      'Enable, disable, delete or edit (priority, weight, models, group) many channels; returns how many were changed',
  }),
  keys: endpoint({
    method: 'GET',
    path: '/api/channel/{id}/keys',
    access: 'admin',
    params: idParams,
    data: z.array(channelKeySchema),
    summary: "Get the health of each of a channel's keys, without the keys",
  }),
  reviveKeys: endpoint({
    method: 'POST',
    path: '/api/channel/{id}/keys/revive',
    access: 'admin',
    params: idParams,
    data: z.int(),
    summary: 'Put the paused keys of a channel back into use; returns how many',
  }),
  removeDeadKeys: endpoint({
    method: 'DELETE',
    path: '/api/channel/{id}/keys/dead',
    access: 'admin',
    params: idParams,
    data: z.int(),
    summary: 'Delete the paused keys of a channel; returns how many',
  }),
}

/** Maximum length of the stored reason why a test failed or a key was paused; a longer reason is truncated. */
export const maxReason = 500

export type ChannelKeyHealth = z.output<typeof channelKeySchema>

/** How the lines of a pasted key are used: one channel per line, or one channel with all lines as its keys. */
export const keyMode = z.enum(['single', 'multi'])

/** The maximum number of keys in one call. */
export const maxKeys = 1000
