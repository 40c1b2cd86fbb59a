import type { CostPreview, ModelCost } from '../../../contract/api/channel-costs.ts'
import { heldFactor } from '../../../contract/api/channel-costs.ts'
import { api } from '../../../contract/api/index.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, type PersonCall, serve } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { isObject, tryParse } from '../../lib/json.ts'
import { isMetadataHost } from '../../lib/network/metadata-address.ts'
import { splitList } from '../../lib/split-list.ts'
import { type ChannelRow, channelById, lockChannel } from '../../store/channels/channels.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { auditEvent } from '../audit-event.ts'
import type { Announce, ApiDeps } from '../deps.ts'
import { createPerPerson } from '../per-person.ts'
import { changedModels, checkCosts, costsOf, ownOf, rateNames, saveChannelCosts, withSource } from './channel-costs.ts'
import { gatewayFeed, openRouterFeed } from './cost-feeds.ts'

type CostDeps = Pick<ApiDeps, 'store' | 'clock' | 'upstreamPrices'> & { announce: Announce }

/** A price list can take ten seconds to arrive, so one person may not wait for any number of them. */
const mostPreviews = 2

/** What the upstreams of channels charge. Must come before `/api/channel/{id}`. */
export function mountChannelCosts(router: ApiRouter, deps: CostDeps): void {
  const { store, announce } = deps
  const running = createPerPerson(mostPreviews, 'price lists')

  serve(router, api.channel.costs, async ({ params }) => costsOf(await existing(deps, params.id)))

  serve(router, api.channel.setCosts, async (call) => {
    const saved = await saveCosts(deps, call)
    await announce({ topic: 'channels', id: call.params.id })
    return saved
  })

  serve(router, api.channel.previewCosts, async (call) => {
    const release = running.take(call.person.id)
    try {
      return await preview(deps, call)
    } finally {
      release()
    }
  })

  async function existing({ store: { read } }: Pick<CostDeps, 'store'>, id: number): Promise<ChannelRow> {
    const row = await channelById(read, id)
    if (!row) throw new ApiFailure('Channel not found.')
    return row
  }

  async function preview(
    { upstreamPrices }: CostDeps,
    { params, body }: PersonCall<typeof api.channel.previewCosts>,
  ): Promise<CostPreview> {
    const channel = await existing({ store }, params.id)
    const url = feedUrl(body, channel)
    const answer = await upstreamPrices(params.id, url)
    if (!answer.ok) throw new ApiFailure(answer.message, 200, { isQuoted: true })
    const feed = body.kind === 'gateway' ? gatewayFeed(answer.value, body.group) : openRouterFeed(answer.value)
    if (!feed) throw new ApiFailure('No prices were found in the response. Check the URL, the kind and the group.')
    const { models: old } = costsOf(channel)
    return {
      url,
      groups: [...feed.groups],
      listed: feed.models.size,
      rows: upstreamModels(channel).map((model) => rowOf(model, ownOf(old, model), feed.models.get(model))),
    }
  }
}

/** The names of the channel's models as they are sent upstream. */
function upstreamModels({ models, model_mapping: mapping }: ChannelRow): string[] {
  const parsed = tryParse(mapping || '{}')
  const mapped = isObject(parsed) ? parsed : {}
  const nameOf = (model: string) => {
    const name = Object.hasOwn(mapped, model) ? mapped[model] : undefined
    return typeof name === 'string' && name !== '' ? name : model
  }
  return [...new Set(splitList(models).map(nameOf))].sort()
}

function rowOf(
  model: string,
  old: ModelCost | undefined,
  cost: ModelCost | null | undefined,
): CostPreview['rows'][number] {
  const row = { model, old: old ?? null, cost: cost ?? null, factor: null, held: false }
  if (!cost) return { ...row, change: cost === null ? 'unreadable' : 'missing' }
  if (!old) return { ...row, change: 'new' }
  if (rateNames.every((name) => old[name] === cost[name])) return { ...row, change: 'same' }
  return { ...row, change: 'changed', factor: factorOf(old, cost), held: isHeld(old, cost) }
}

/** The largest new rate divided by the old one; null if no rate is in both, or the old one was free. */
function factorOf(old: ModelCost, cost: ModelCost): number | null {
  const factors = rateNames.flatMap((name) => {
    const [from, to] = [old[name], cost[name]]
    return from === undefined || to === undefined || from === 0 ? [] : [to / from]
  })
  return factors.length === 0 ? null : Math.max(...factors)
}

/** True if a rate becomes ten times as high or more, a tenth or less, or starts or ceases to be free. */
function isHeld(old: ModelCost, cost: ModelCost): boolean {
  return rateNames.some((name) => {
    const [from, to] = [old[name], cost[name]]
    if (from === undefined || to === undefined || from === to) return false
    return to >= from * heldFactor || from >= to * heldFactor
  })
}

/** Writes the costs, except prices from a list that have to be confirmed first. */
async function saveCosts({ store, clock }: CostDeps, call: PersonCall<typeof api.channel.setCosts>) {
  const { id } = call.params
  const { multiplier, models, source, confirmed } = call.body
  checkCosts({ multiplier, models })
  const url = source.url === '' ? '' : checkedUrl(source.url)
  return store.write(async (trx) => {
    const before = await lockChannel(trx, id)
    if (!before) throw new ApiFailure('Channel not found.')
    const old = costsOf(before)
    const held: string[] = []
    const kept = Object.entries(models).map(([model, cost]): [string, ModelCost] => {
      const stored = source.kind === 'manual' || confirmed.includes(model) ? undefined : ownOf(old.models, model)
      if (!stored || !isHeld(stored, cost)) return [model, cost]
      held.push(model)
      return [model, stored]
    })
    const costs = withSource(
      { multiplier, models: Object.fromEntries(kept) },
      { kind: source.kind, url },
      epochSeconds(clock),
    )
    await saveChannelCosts(trx, id, costs)
    const changed = changedModels(old, costs)
    const parts = [
      ...(old.multiplier === multiplier ? [] : [`multiplier=${old.multiplier} → ${multiplier}`]),
      `${changed} models`,
      `source=${source.kind}`,
      ...(held.length > 0 ? [`held=${held.length}`] : []),
    ]
    await recordAudit(trx, auditEvent(clock, call, 'channel.set-costs', `channel ${id}`, parts.join(' ')))
    return { costs, held }
  })
}

function feedUrl({ kind, url }: { kind: 'gateway' | 'openrouter'; url: string }, channel: ChannelRow): string {
  if (url !== '') return checkedUrl(url)
  if (kind === 'openrouter') return 'https://openrouter.ai/api/v1/models'
  if (channel.base_url === '') throw new ApiFailure('Enter the URL of the price list.')
  return `${channel.base_url.replace(/\/v1$/, '')}/api/pricing`
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw new ApiFailure('The URL of a price list must begin with https:// or http://.')
  if (url.username !== '' || url.password !== '')
    throw new ApiFailure('The URL of a price list must not contain a username or password.')
  if (isMetadataHost(url.hostname))
    throw new ApiFailure('The URL of a price list must not be a cloud metadata service.')
  return url.href
}
