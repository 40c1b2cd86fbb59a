import type { CostPreview, ModelCost } from '../../../contract/api/channel-costs.ts'
import { api } from '../../../contract/api/index.ts'
import {
  changedModels,
  describeCost,
  factorOf,
  implausibleAgainst,
  isHeld,
  isSameCost,
  ownCost,
} from '../../billing/compare-costs.ts'
import { usualCosts } from '../../billing/usual-costs.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, type PersonCall, serve } from '../../http/serve-endpoint.ts'
import { checkedUrl, listUrl, readPriceList } from '../../jobs/read-price-list.ts'
import { costsOf, costsWithFeed, feedOf, newFeed, upstreamModels } from '../../jobs/stored-costs.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { type ChannelRow, channelById, lockChannel } from '../../store/channels/channels.ts'
import { priceFeedOf, setPriceFeed } from '../../store/channels/price-feeds.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { auditEvent } from '../audit-event.ts'
import type { Announce, ApiDeps } from '../deps.ts'
import { createPerPerson } from '../per-person.ts'
import { checkCosts, saveChannelCosts, withSource } from './channel-costs.ts'

type CostDeps = Pick<ApiDeps, 'store' | 'clock' | 'upstreamPrices' | 'syncPrices'> & { announce: Announce }

/**
 * The maximum number of previews that one person may run at a time, because a price list can take ten seconds to
 * arrive.
 */
const mostPreviews = 2

/** Calls for the costs of channels. Must be mounted before `/api/channel/{id}`. */
export function mountChannelCosts(router: ApiRouter, deps: CostDeps): void {
  const { store, announce } = deps
  const running = createPerPerson(mostPreviews, 'price lists')

  const current = async (id: number) =>
    costsWithFeed(costsOf(await existing(deps, id)), feedOf(await priceFeedOf(store.read, id)))

  serve(router, api.channel.costs, ({ params }) => current(params.id))

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

  serve(router, api.channel.setFeed, async (call) => {
    await saveFeed(deps, call)
    return current(call.params.id)
  })

  serve(router, api.channel.checkFeed, async ({ params, person }) => {
    const { feed } = await current(params.id)
    if (!feed) throw new ApiFailure('This channel has no scheduled price list.')
    const release = running.take(person.id)
    try {
      await deps.syncPrices(params.id)
    } finally {
      release()
    }
    return current(params.id)
  })

  serve(router, api.channel.decideHeld, async (call) => {
    await decideHeld(deps, call)
    await announce({ topic: 'channels', id: call.params.id })
    return current(call.params.id)
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
    const result = await readPriceList(upstreamPrices, channel, body)
    if (!result.ok) throw new ApiFailure(result.message, 200, { isQuoted: result.isQuoted === true })
    const { url, list } = result
    const { models: old } = costsOf(channel)
    return {
      url,
      groups: [...list.groups],
      listed: list.models.size,
      rows: upstreamModels(channel).map((model) => rowOf(channel, model, ownCost(old, model), list.models.get(model))),
    }
  }
}

function rowOf(
  { type }: ChannelRow,
  model: string,
  old: ModelCost | undefined,
  cost: ModelCost | null | undefined,
): CostPreview['rows'][number] {
  const row = { model, old: old ?? null, cost: cost ?? null, usual: null, factor: null, held: false }
  if (!cost) return { ...row, change: cost === null ? 'unreadable' : 'missing' }
  if (!old) {
    const usual = implausibleAgainst(usualCosts(model, type), cost)
    return { ...row, change: 'new', ...(usual && { usual, factor: factorOf(usual, cost), held: true }) }
  }
  if (isSameCost(old, cost)) return { ...row, change: 'same' }
  return { ...row, change: 'changed', factor: factorOf(old, cost), held: isHeld(old, cost) }
}

/**
 * Writes the costs. A price from a list that differs too much from the expected price is written only if the caller
 * confirms it.
 */
async function saveCosts({ store, clock }: CostDeps, call: PersonCall<typeof api.channel.setCosts>) {
  const { id } = call.params
  const { multiplier, models, source, confirmed } = call.body
  checkCosts({ multiplier, models })
  const url = source.url === '' ? '' : orRefuse(checkedUrl(source.url))
  return store.write(async (trx) => {
    const before = await lockChannel(trx, id)
    if (!before) throw new ApiFailure('Channel not found.')
    const old = costsOf(before)
    const held: string[] = []
    const kept = Object.entries(models).flatMap(([model, cost]): [string, ModelCost][] => {
      if (source.kind === 'manual' || confirmed.includes(model)) return [[model, cost]]
      const stored = ownCost(old.models, model)
      const isKept = stored ? isHeld(stored, cost) : implausibleAgainst(usualCosts(model, before.type), cost)
      if (!isKept) return [[model, cost]]
      held.push(model)
      return stored ? [[model, stored]] : []
    })
    const costs = withSource(
      { multiplier, models: Object.fromEntries(kept) },
      { kind: source.kind, url },
      epochSeconds(clock),
    )
    await saveChannelCosts(trx, id, costs)
    const changed = changedModels(old.models, costs.models).length
    const parts = [
      ...(old.multiplier === multiplier ? [] : [`multiplier=${old.multiplier} → ${multiplier}`]),
      `${changed} models`,
      `source=${source.kind}`,
      ...(held.length > 0 ? [`held=${held.length}`] : []),
    ]
    await recordAudit(trx, auditEvent(clock, call, 'channel.set-costs', `channel ${id}`, parts.join(' ')))
    return { costs: costsWithFeed(costs, feedOf(await priceFeedOf(trx, id))), held }
  })
}

/** Sets or removes the price list that is read on a schedule. A new list is read within a minute. */
async function saveFeed({ store, clock }: CostDeps, call: PersonCall<typeof api.channel.setFeed>): Promise<void> {
  const { id } = call.params
  const { feed } = call.body
  await store.write(async (trx) => {
    const channel = await lockChannel(trx, id)
    if (!channel) throw new ApiFailure('Channel not found.')
    const url = feed && orRefuse(listUrl(feed, channel))
    const stored = feed && url !== null ? JSON.stringify(newFeed({ ...feed, url: feed.url === '' ? '' : url })) : ''
    await setPriceFeed(trx, id, stored)
    // The audit log contains only the host, because the URL may contain a key of the other service.
    const detail = feed && url !== null ? `feed=${new URL(url).host} every_hours=${feed.every_hours}` : 'feed=none'
    await recordAudit(trx, auditEvent(clock, call, 'channel.set-costs', `channel ${id}`, detail))
  })
}

/** Accepts or refuses prices that the last check held back. */
async function decideHeld({ store, clock }: CostDeps, call: PersonCall<typeof api.channel.decideHeld>): Promise<void> {
  const { id } = call.params
  const { use, refuse } = call.body
  await store.write(async (trx) => {
    const channel = await lockChannel(trx, id)
    const feed = channel && feedOf(await priceFeedOf(trx, id))
    if (!channel || !feed) throw new ApiFailure('This channel has no scheduled price list.')
    const priceOf = (model: string) => {
      const known = Object.hasOwn(feed.held, model) ? feed.held[model] : undefined
      if (!known) throw new ApiFailure(`No price of ${model} is held back.`)
      return [model, known.cost] as const
    }
    const [used, refused] = [use.map(priceOf), refuse.map(priceOf)]
    const held = { ...feed.held }
    for (const [model] of [...used, ...refused]) delete held[model]
    const decided = { ...feed, held, refused: { ...feed.refused, ...Object.fromEntries(refused) } }
    await setPriceFeed(trx, id, JSON.stringify(decided))
    const old = costsOf(channel)
    if (used.length > 0)
      await saveChannelCosts(trx, id, { ...old, models: { ...old.models, ...Object.fromEntries(used) } })
    const words = [
      ...used.map(([model, cost]) => `used ${describeCost(model, ownCost(old.models, model), cost)}`),
      ...refused.map(([model, cost]) => `refused ${describeCost(model, ownCost(old.models, model), cost)}`),
    ]
    await recordAudit(trx, auditEvent(clock, call, 'channel.set-costs', `channel ${id}`, words.join('; ')))
  })
}

function orRefuse(url: string | { fault: string }): string {
  if (typeof url !== 'string') throw new ApiFailure(url.fault)
  return url
}
