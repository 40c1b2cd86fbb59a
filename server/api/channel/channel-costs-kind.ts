import type { ChannelCosts } from '../../../contract/api/channel-costs.ts'
import type { ChannelCostsEntry, ConfigFile } from '../../../contract/config-file.ts'
import { changedModels } from '../../billing/compare-costs.ts'
import { costsOf } from '../../jobs/stored-costs.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { allChannels, type ChannelRow } from '../../store/channels/channels.ts'
import { channelsWithFeeds } from '../../store/channels/price-feeds.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import type { Db, Trx } from '../../store/store.ts'
import { auditEvent } from '../audit-event.ts'
import { type ConfigKind, differences, inEntry, type PlanContext, type PlannedChange } from '../config-kind.ts'
import { checkCosts, saveChannelCosts, withSource } from './channel-costs.ts'
import { onlyChannel, refuseSameNames } from './channels-by-name.ts'

type Costs = Pick<ChannelCosts, 'multiplier' | 'models'>

/**
 * The section `channel_costs` of a configuration file: the prices that upstreams charge, by the name of the channel.
 * Fields that an entry omits are removed. There is one exception: if a channel has a price feed and the entry lists no
 * models, the models' prices from the feed are kept.
 */
export const channelCostsKind: ConfigKind<'channel_costs'> = {
  section: 'channel_costs',
  names: (wanted) => Object.keys(wanted),

  async plan(trx, wanted, context) {
    const channels = Map.groupBy(await allChannels(trx), ({ name }) => name)
    const withFeed = await idsWithFeed(trx)
    const changes: PlannedChange[] = []
    for (const [name, entry] of Object.entries(wanted)) {
      const path = ['channel_costs', name]
      const label = `channel_costs: ${JSON.stringify(name)}`
      const change = await inEntry(path, label, () => {
        const channel = onlyChannel(channels.get(name))
        const isOfFeed = entry.models === undefined && withFeed.has(channel.id)
        return planCosts(channel, costsIn(isOfFeed ? { ...entry, models: costsOf(channel).models } : entry), context)
      })
      if (change) changes.push({ ...change, make: (trx) => inEntry(path, label, () => change.make(trx)) })
    }
    const others = [...channels.values()]
      .flat()
      .filter((row) => row.costs !== '' && !withFeed.has(row.id) && !Object.hasOwn(wanted, row.name))
    if (context.prune)
      for (const row of others)
        changes.push({ op: 'remove', name: row.name, fields: [], make: (trx) => write(trx, row, noCosts, context) })
    return { changes, unlisted: others.map(({ name }) => name) }
  },

  async export(db) {
    const priced = (await allChannels(db)).filter(({ costs }) => costs !== '')
    const withFeed = await idsWithFeed(db)
    await refuseSameNames(db, priced, { section: 'channel_costs', what: 'costs' })
    const entries = priced
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((row): [string, ChannelCostsEntry] => {
        const costs = costsOf(row)
        return [row.name, entryOf(withFeed.has(row.id) ? { ...costs, models: {} } : costs)]
      })
      .filter(([, entry]) => Object.keys(entry).length > 0)
    return entries.length === 0 ? undefined : (Object.fromEntries(entries) as ConfigFile['channel_costs'])
  },
}

const noCosts: Costs = { multiplier: null, models: {} }

function costsIn({ multiplier, models }: ChannelCostsEntry): Costs {
  return { multiplier: multiplier ?? null, models: { ...models } }
}

/** Costs in the form of a file, with models in the order of their names. */
function entryOf({ multiplier, models }: Costs): ChannelCostsEntry {
  const sorted = Object.entries(models).sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    ...(multiplier !== null && { multiplier }),
    ...(sorted.length > 0 && { models: Object.fromEntries(sorted) }),
  }
}

async function idsWithFeed(db: Db): Promise<ReadonlySet<number>> {
  return new Set((await channelsWithFeeds(db)).map(({ id }) => id))
}

function planCosts(row: ChannelRow, wanted: Costs, context: PlanContext): PlannedChange | undefined {
  checkCosts(wanted)
  const before = costsOf(row)
  const fields = differences({ ...entryOf(before) }, { ...entryOf(wanted) })
  if (fields.length === 0) return undefined
  const op = row.costs === '' ? 'add' : 'change'
  return { op, name: row.name, fields, make: (trx) => write(trx, row, wanted, context) }
}

/**
 * Writes the costs and sets their source to `manual`. The URL of the price list from which earlier costs came is
 * removed.
 */
async function write(trx: Trx, row: ChannelRow, wanted: Costs, { deps, actor }: PlanContext): Promise<void> {
  const costs = withSource(wanted, { kind: 'manual', url: '' }, epochSeconds(deps.clock))
  await saveChannelCosts(trx, row.id, costs)
  const detail = `${changedModels(costsOf(row).models, costs.models).length} models source=manual`
  await recordAudit(trx, auditEvent(deps.clock, actor, 'channel.set-costs', `channel ${row.id}`, detail))
}
