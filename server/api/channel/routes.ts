import type { Channel, ChannelTypeEntry } from '../../../contract/api/channel.ts'
import { api } from '../../../contract/api/index.ts'
import { modelEntry } from '../../../contract/model-entry.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { listed, pageOf } from '../../http/list-page.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import type { Secrets } from '../../lib/secrets/secrets.ts'
import { channelById, channelTags, type ListedChannel, listChannels } from '../../store/channels/channels.ts'
import { marksOf } from '../../store/installation/config-marks.ts'
import { type CapRow, capsOfChannel, capsOfChannels } from '../../store/ledger/caps.ts'
import type { Announce, ApiDeps } from '../deps.ts'
import {
  type ChannelChangeDeps,
  createChannels,
  removeChannel,
  removeDisabledChannels,
  saveChannel,
} from './change-channels.ts'
import { limitView } from './channel-limits.ts'
import { mountChannelCosts } from './cost-routes.ts'
import { channelsWithKey } from './find-key.ts'
import { mountChannelHealth } from './health-routes.ts'
import { mountChannelLimits } from './limit-routes.ts'
import { mountChannelOperations } from './operation-routes.ts'
import { mountChannelProbe } from './probe-routes.ts'
import { carriesView } from './stored-carries.ts'

type ChannelDeps = ChannelChangeDeps &
  Pick<
    ApiDeps,
    | 'turns'
    | 'testChannel'
    | 'testAllChannels'
    | 'missingAt'
    | 'updateBalance'
    | 'updateAllBalances'
    | 'upstreamModels'
    | 'upstreamPrices'
    | 'syncPrices'
    | 'probeDraft'
  > & {
    announce: Announce
  }

/** The upstream channels. Their keys can be written but are never returned. */
export function mountChannels(router: ApiRouter, deps: ChannelDeps): void {
  const { store, catalogue, announce, missingAt, secrets } = deps

  serve(router, api.channel.list, async ({ query, context }) =>
    views(listed(context, await listChannels(store.read, pageOf(query), query))),
  )

  serve(router, api.channel.search, async ({ query, context }) => {
    const filter = { ...query, withKey: await channelsWithKey(deps, query.keyword) }
    return views(listed(context, await listChannels(store.read, pageOf(query), filter)))
  })

  // The fixed paths come before /api/channel/{id}, which would treat them as ids.
  serve(router, api.channel.models, () => modelList(catalogue()))
  serve(router, api.channel.tags, () => channelTags(store.read))
  serve(router, api.channel.types, () => catalogue().map((entry) => ({ ...entry, models: [...entry.models] })))
  serve(router, api.channel.defaultModels, () =>
    Object.fromEntries(catalogue().map((entry) => [entry.type, [...entry.models]])),
  )
  // These operations include `test/progress`, which must come before `test/{id}`.
  mountChannelHealth(router, deps)
  mountChannelLimits(router, deps)
  mountChannelOperations(router, deps)
  mountChannelProbe(router, deps)
  mountChannelCosts(router, deps)
  mountTests(router, deps)
  serve(router, api.channel.get, async ({ params }) => shown(params.id))

  serve(router, api.channel.create, async (call) => {
    const ids = await createChannels(deps, call)
    await announce({ topic: 'channels', id: ids.length === 1 ? (ids[0] ?? 0) : 0 })
    return ids
  })

  serve(router, api.channel.update, async (call) => {
    await saveChannel(deps, call)
    await announce({ topic: 'channels', id: call.body.id })
    return shown(call.body.id)
  })

  serve(router, api.channel.removeDisabled, async (call) => {
    const count = await removeDisabledChannels(deps, call)
    await announce({ topic: 'channels', id: 0 })
    return count
  })

  serve(router, api.channel.remove, async (call) => {
    await removeChannel(deps, call)
    await announce({ topic: 'channels', id: call.params.id })
  })

  async function shown(id: number): Promise<Channel> {
    const row = await channelById(store.read, id)
    if (!row) throw new ApiFailure('Channel not found.')
    const marks = await marksOf(store.read, 'channels', [row.name])
    return channelView(row, { secrets, marks, caps: await capsOfChannel(store.read, id), missing: missingAt(id) })
  }

  async function views(rows: readonly ListedChannel[]): Promise<Channel[]> {
    const ids = rows.map(({ id }) => id)
    const caps = Map.groupBy(await capsOfChannels(store.read, ids), ({ owner_id }) => owner_id)
    const names = [...new Set(rows.map(({ name }) => name))]
    const marks = await marksOf(store.read, 'channels', names)
    return rows.map((row) => channelView(row, { secrets, marks, caps: caps.get(row.id) ?? [] }))
  }
}

function mountTests(router: ApiRouter, { store, testChannel, testAllChannels }: ChannelDeps): void {
  serve(router, api.channel.testAll, async ({ query }) => {
    if (!(await testAllChannels(query.scope))) throw new ApiFailure('A channel test is already running.')
  })

  serve(router, api.channel.test, async ({ params, query, context }) => {
    // Clients that specify a model expect the response of one-api 0.6.10, which contains the model and its reply.
    const named = (modelName: string) => (query.model === undefined ? undefined : { modelName })
    const failed = (message: string, time: number, model: string, isQuoted = false) =>
      new ApiFailure(message, 200, { extra: { time, ...named(model) }, isQuoted })
    if (!(await channelById(store.read, params.id))) throw failed('Channel not found.', 0, query.model ?? '')
    const result = await testChannel(params.id, query.model || undefined)
    const time = result.timeMs / 1000
    if (!result.ok) throw failed(result.message, time, result.model, true)
    if (query.model !== undefined) context.set('successMessage', result.reply)
    return { time, ...named(result.model) }
  })
}

/** What a channel's response needs besides the channel's row, including the secrets for decrypting the row. */
interface Beside {
  secrets: Secrets
  caps: readonly CapRow[]
  /** The name of the configuration file that manages a channel, by the channel's name. */
  marks: ReadonlyMap<string, string>
  missing?: Channel['missing']
}

function channelView(row: ListedChannel, { secrets, caps, marks, missing = [] }: Beside): Channel {
  const limits = caps.map(limitView)
  return {
    ...row,
    ...carriesView(row, secrets),
    draining: Boolean(row.draining),
    limits,
    managed_by: marks.get(row.name) ?? '',
    key: '',
    missing,
  }
}

/**
 * Every model of the catalogue, in the form of OpenAI's model list. If several types have a model, it is listed for the
 * first of them.
 */
function modelList(catalogue: readonly ChannelTypeEntry[]) {
  const owners = new Map<string, string>()
  for (const entry of catalogue) {
    for (const model of entry.models) if (!owners.has(model)) owners.set(model, entry.name)
  }
  return { object: 'list' as const, data: [...owners].map(([model, owner]) => modelEntry(model, owner)) }
}
