import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type * as z from 'zod/mini'
import {
  type AlertDestination,
  type AlertRule,
  alertCalls,
  type createAlertDestinationBody,
  type createAlertRuleBody,
  type updateAlertDestinationBody,
} from '../../../contract/api/alert.ts'
import { channelApi } from '../../../contract/api/channel.ts'
import { call, callFull } from '../../lib/call.ts'
import { queryClient } from '../../lib/query-client.ts'

/** Whether a call concerns the alerts of the installation or the user's own. */
export type AlertScope = 'installation' | 'own'

/** How often the states are refreshed while the page is visible. */
const refreshMs = 30_000
export const historySize = 20

export const rulesQuery = (scope: AlertScope) =>
  queryOptions({
    queryKey: ['alert', scope, 'rules'],
    queryFn: ({ signal }) => call(alertCalls[scope].rules, {}, { signal, quiet: true }),
    refetchInterval: refreshMs,
  })

export const destinationsQuery = (scope: AlertScope) =>
  queryOptions({
    queryKey: ['alert', scope, 'destinations'],
    queryFn: ({ signal }) => call(alertCalls[scope].destinations, {}, { signal, quiet: true }),
  })

/** One page of the history and the total number of messages. Pages are counted from 1. */
export const historyQuery = (scope: AlertScope, page: number) =>
  queryOptions({
    queryKey: ['alert', scope, 'history', page],
    queryFn: async ({ signal }) => {
      const query = { p: page - 1, size: historySize }
      const { data, total } = await callFull(alertCalls[scope].history, { query }, { signal, quiet: true })
      return { rows: data, total: total ?? data.length }
    },
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
  })

/** The channels by name, for rules about a single channel. */
export const channelChoicesQuery = queryOptions({
  queryKey: ['alert', 'channels'],
  queryFn: async ({ signal }) => {
    const channels = await call(channelApi.list, { query: { p: 0, size: 100 } }, { signal, quiet: true })
    return channels.map(({ id, name }) => ({ id, name }))
  },
  staleTime: 60_000,
})

const reload = (scope: AlertScope) => queryClient.invalidateQueries({ queryKey: ['alert', scope] })

/** Creates a rule, or changes the one with the given id. */
export async function saveRule(
  scope: AlertScope,
  id: number | undefined,
  body: z.input<typeof createAlertRuleBody>,
): Promise<void> {
  const { kind, ...fields } = body
  if (id === undefined) await call(alertCalls[scope].createRule, { body: { kind, ...fields } })
  else await call(alertCalls[scope].updateRule, { body: { id, ...fields } })
  await reload(scope)
}

/** Switches a rule on or off. */
export async function switchRule(scope: AlertScope, { id }: AlertRule, enabled: boolean): Promise<void> {
  await call(alertCalls[scope].updateRule, { body: { id, enabled } })
  await reload(scope)
}

export async function removeRule(scope: AlertScope, { id }: AlertRule): Promise<void> {
  await call(alertCalls[scope].removeRule, { params: { id } })
  await reload(scope)
}

/** Creates a destination; returns the secret that was generated for it, or ''. */
export async function createDestination(
  scope: AlertScope,
  body: z.input<typeof createAlertDestinationBody>,
): Promise<string> {
  const { secret } = await call(alertCalls[scope].createDestination, { body })
  await reload(scope)
  return secret
}

export async function updateDestination(
  scope: AlertScope,
  body: z.input<typeof updateAlertDestinationBody>,
): Promise<void> {
  await call(alertCalls[scope].updateDestination, { body })
  await reload(scope)
}

export async function removeDestination(scope: AlertScope, { id }: AlertDestination): Promise<void> {
  await call(alertCalls[scope].removeDestination, { params: { id } })
  await reload(scope)
}

/** Sends a test message. If it does not arrive, the call still succeeds, and its result says so. */
export async function testDestination(scope: AlertScope, { id }: AlertDestination) {
  const result = await call(alertCalls[scope].testDestination, { params: { id } })
  await queryClient.invalidateQueries({ queryKey: ['alert', scope, 'destinations'] })
  return result
}
