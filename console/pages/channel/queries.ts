import { queryOptions, useQuery } from '@tanstack/react-query'
import type * as z from 'zod/mini'
import {
  type Channel,
  channelApi,
  type createChannelBody,
  type updateChannelBody,
} from '../../../contract/api/channel.ts'
import type { batchBody } from '../../../contract/api/channel-operations.ts'
import type { ProbeReport, probeBody } from '../../../contract/api/channel-probe.ts'
import { optionApi } from '../../../contract/api/option.ts'
import type { UsageFiguresView } from '../../../contract/api/usage.ts'
import { channelStatus } from '../../../contract/statuses.ts'
import { CallError, call, callFull } from '../../lib/call.ts'
import { sinceDays } from '../../lib/days.ts'
import { listSource } from '../../lib/list-source.ts'
import { queryClient } from '../../lib/query-client.ts'
import { readUsage } from '../../lib/read-usage.ts'

/** All channels. */
export const channels = listSource<Channel>('channel', { list: channelApi.list, search: channelApi.search })

/** One channel. */
export const channelQuery = (id: string) =>
  queryOptions({
    queryKey: ['channel', 'one', id],
    queryFn: ({ signal }) => call(channelApi.get, { params: { id } }, { signal, quiet: true }),
  })

/** Maximum number of channels that the board and the models map load. */
export const mostWatched = 500
const pageSize = 100

/** The channels for the board and the models map, up to `mostWatched`. */
export const watchedQuery = queryOptions({
  queryKey: ['channel', 'watched'],
  queryFn: async ({ signal }) => {
    const rows: Channel[] = []
    for (let p = 0; rows.length < mostWatched; p++) {
      const page = await callFull(channelApi.list, { query: { p, size: pageSize } }, { signal, quiet: true })
      rows.push(...page.data)
      // A server without a page size parameter sends ten at a time.
      if (page.data.length === 0 || rows.length >= (page.total ?? Number.POSITIVE_INFINITY)) break
      if (page.total === undefined && page.data.length < 10) break
    }
    return rows
  },
})

/** The catalogue of channel types. */
export const typesQuery = queryOptions({
  queryKey: ['channel', 'types'],
  queryFn: async ({ signal }) => {
    try {
      return await call(channelApi.types, {}, { signal, quiet: true })
    } catch (error) {
      if (!(error instanceof CallError) || error.status !== 404) throw error
      return (await import('./known-types.ts')).knownTypes
    }
  },
  staleTime: Number.POSITIVE_INFINITY,
})

/** The tags of all channels; none on servers without tags. */
export const tagsQuery = queryOptions({
  queryKey: ['channel', 'tags'],
  queryFn: ({ signal }) => call(channelApi.tags, {}, { signal, quiet: true }).catch(() => []),
})

/** The models that a type recommends; the type is a number as text, as in the form. */
export function useTypesModels(type: string): readonly string[] {
  const types = useQuery(typesQuery)
  return types.data?.find((entry) => String(entry.type) === type)?.models ?? []
}

/** Names of all built-in models. */
export const modelsQuery = queryOptions({
  queryKey: ['channel', 'models'],
  queryFn: async ({ signal }) =>
    (await call(channelApi.models, {}, { signal, quiet: true })).data.map((model) => model.id),
  staleTime: Number.POSITIVE_INFINITY,
})

/** The last tests of a channel, newest first. */
export const testsQuery = (id: number) =>
  queryOptions({
    queryKey: ['channel', 'tests', id],
    queryFn: ({ signal }) => call(channelApi.tests, { params: { id } }, { signal, quiet: true }),
  })

/** How often the health board is refreshed while it is visible. */
const healthRefreshMs = 15_000

/** The health of all channels in the last 24 hours; null if the server does not report it. */
export const healthQuery = queryOptions({
  queryKey: ['channel', 'health'],
  queryFn: ({ signal }) =>
    call(channelApi.health, {}, { signal, quiet: true }).catch((error: unknown) => {
      // A server without this path reads `health` as the id of a channel and refuses it.
      if (error instanceof CallError && (error.status === 404 || error.kind === 'refused')) return null
      throw error
    }),
  refetchInterval: healthRefreshMs,
  refetchOnWindowFocus: true,
})

/** How often the use of limits is refreshed while it is visible. */
const limitsRefreshMs = 5000

/** How much of their limits the channels use; null if the server does not support channel limits. */
export const limitsQuery = queryOptions({
  queryKey: ['channel', 'limits'],
  queryFn: ({ signal }) =>
    call(channelApi.limits, {}, { signal, quiet: true }).catch((error: unknown) => {
      // A server without this path reads `limits` as the id of a channel and refuses it.
      if (error instanceof CallError && (error.status === 404 || error.kind === 'refused')) return null
      throw error
    }),
  refetchInterval: limitsRefreshMs,
})

/** What happened to a channel, newest first; null if the server does not report it. */
export const timelineQuery = (id: number) =>
  queryOptions({
    queryKey: ['channel', 'timeline', id],
    queryFn: ({ signal }) =>
      call(channelApi.timeline, { params: { id } }, { signal, quiet: true }).catch((error: unknown) => {
        if (error instanceof CallError && error.status === 404) return null
        throw error
      }),
  })

/** The health of a channel's keys. */
export const keysQuery = (id: number) =>
  queryOptions({
    queryKey: ['channel', 'keys', id],
    queryFn: ({ signal }) => call(channelApi.keys, { params: { id } }, { signal, quiet: true }),
  })

/** The number of channels whose usage is requested. */
const mostUsed = 50

/**
 * Traffic of each channel in the last 7 days, by channel id: its share of all calls, and the share of its own attempts
 * that did not fail.
 */
export const trafficQuery = queryOptions({
  queryKey: ['channel', 'traffic'],
  queryFn: async ({ signal }) => {
    const start_timestamp = sinceDays(7)
    const range = { metric: 'requests', group_by: 'channel', rollup: 'day', start_timestamp, top: mostUsed }
    const { total, groups } = await readUsage(range, signal)
    return new Map(
      groups.map(({ key, total: own }) => [
        Number(key),
        { share: own.requests / Math.max(1, total.requests), succeeded: succeededOf(own) },
      ]),
    )
  },
})

/**
 * The share of a channel's attempts that succeeded. Failed attempts are not among the channel's requests, because the
 * log row of the call belongs to another channel or the call was not charged.
 */
function succeededOf({ requests, failed, failed_attempts = 0 }: UsageFiguresView): number {
  return 1 - failed / Math.max(1, requests + failed_attempts)
}

/**
 * Models that a channel serves but that have no price. On servers that do not report this, every model counts as
 * priced.
 */
export const unpricedQuery = queryOptions({
  queryKey: ['channel', 'unpriced'],
  queryFn: async ({ signal }) => {
    const prices = await call(optionApi.prices, {}, { signal, quiet: true }).catch(() => [])
    return new Set(prices.filter(({ source }) => source === 'none').map(({ model }) => model))
  },
})

/** Progress of the test of all channels. */
export const progressQuery = queryOptions({
  queryKey: ['channel', 'progress'],
  queryFn: ({ signal }) => call(channelApi.testProgress, {}, { signal, quiet: true }),
})

const patch = (id: number, change: Partial<Channel>) =>
  channels.patch(
    (row) => row.id === id,
    (row) => ({ ...row, ...change }),
  )

/** Reloads all data about channels. */
export async function refreshChannels(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ['channel'], predicate: ({ queryKey }) => !fixed.has(queryKey[1]) })
}

const fixed = new Set<unknown>(['types', 'models'])

/** Reloads the views of all channels, and the details and the history of one. */
function refreshViews(id: number): void {
  for (const key of ['watched', 'health']) void queryClient.invalidateQueries({ queryKey: ['channel', key] })
  void queryClient.invalidateQueries({ queryKey: ['channel', 'one', String(id)] })
  void queryClient.invalidateQueries({ queryKey: ['channel', 'timeline', id] })
}

/** Enables (1) or disables (2) a channel; its row shows the status that the server returns. */
export async function setChannelStatus(channel: Pick<Channel, 'id'>, status: number): Promise<void> {
  const changed = await call(channelApi.update, { body: { id: channel.id, status } })
  patch(channel.id, { status: changed?.status ?? status })
  refreshViews(channel.id)
}

/** Deletes a channel and reloads the list. */
export async function removeChannel(channel: Channel): Promise<void> {
  await call(channelApi.remove, { params: { id: channel.id } })
  await refreshChannels()
}

/** Deletes all disabled channels; returns how many were deleted. */
export async function removeDisabledChannels(): Promise<number> {
  const count = await call(channelApi.removeDisabled, {})
  await refreshChannels()
  return count
}

const nowSeconds = () => Math.floor(Date.now() / 1000)

/**
 * Tests a channel; returns the duration in seconds. On success, the channel's row is updated; after a failure, the
 * caller must refresh the list.
 */
export async function testChannel(id: number, options: { quiet?: boolean } = {}): Promise<number> {
  try {
    const { time } = await call(channelApi.test, { params: { id }, query: {} }, options)
    patch(id, { response_time: Math.round(time * 1000), test_time: nowSeconds(), test_error: '' })
    return time
  } finally {
    void queryClient.invalidateQueries({ queryKey: ['channel', 'tests', id] })
    void queryClient.invalidateQueries({ queryKey: ['channel', 'one', String(id)] })
    refreshViews(id)
  }
}

/** Requests the remaining balance from the channel's upstream. */
export async function updateBalance(channel: Channel): Promise<void> {
  const { balance } = await call(channelApi.updateBalance, { params: { id: channel.id } })
  patch(channel.id, { balance, balance_updated_time: nowSeconds() })
}

/** Requests the remaining balances from the upstreams of all enabled channels. */
export async function updateAllBalances(): Promise<void> {
  await call(channelApi.updateAllBalances, {})
  await refreshChannels()
}

/** Makes a disabled copy of a channel. */
export async function copyChannel(channel: Channel): Promise<void> {
  await call(channelApi.copy, { params: { id: channel.id }, body: {} })
  await refreshChannels()
}

/** Changes many channels in one call. */
export async function changeMany(body: z.input<typeof batchBody>): Promise<number> {
  const count = await call(channelApi.batch, { body })
  await refreshChannels()
  return count
}

/** Creates channels; returns their ids, or an empty list if the server does not report them. */
export async function createChannel(body: z.input<typeof createChannelBody>): Promise<readonly number[]> {
  const ids = await call(channelApi.create, { body })
  await refreshChannels()
  return ids ?? []
}

/** Changes a channel. */
export async function updateChannel(body: z.input<typeof updateChannelBody>): Promise<void> {
  await call(channelApi.update, { body })
  await refreshChannels()
}

/** The models that a channel's upstream reports. */
export function upstreamModels(id: number): Promise<string[]> {
  return call(channelApi.upstreamModels, { params: { id } })
}

/** Tests a channel that is not saved, and lists the models of its provider. */
export function probeChannel(body: z.input<typeof probeBody>): Promise<ProbeReport> {
  return call(channelApi.probe, { body })
}

/** Reactivates the paused keys, or deletes them; returns the number of keys. */
export async function careForKeys(id: number, action: 'revive' | 'remove'): Promise<number> {
  const endpoint = action === 'revive' ? channelApi.reviveKeys : channelApi.removeDeadKeys
  const count = await call(endpoint, { params: { id } })
  await refreshChannels()
  return count
}

/** Channels whose last test failed at or after `since` (epoch seconds). */
export function testedBadly(rows: readonly Channel[], since: number): Channel[] {
  return rows.filter((channel) => channel.test_error && channel.test_time >= since)
}

/** True for a channel that accepts calls. */
export function isEnabled(channel: Pick<Channel, 'status'>): boolean {
  return channel.status === channelStatus.enabled
}
