import type { FeedInput } from '../../../contract/api/channel-costs.ts'
import type { ConfigFile, PriceFeedEntry } from '../../../contract/config-file.ts'
import { listUrl } from '../../jobs/read-price-list.ts'
import { feedOf, newFeed, type StoredFeed } from '../../jobs/stored-costs.ts'
import { allChannels, type ChannelRow } from '../../store/channels/channels.ts'
import { channelsWithFeeds, setPriceFeed } from '../../store/channels/price-feeds.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import type { Trx } from '../../store/store.ts'
import { auditEvent } from '../audit-event.ts'
import {
  type ConfigKind,
  differences,
  EntryFault,
  inEntry,
  maskedSecret,
  type PlanContext,
  type PlannedChange,
  plainSecret,
} from '../config-kind.ts'
import { onlyChannel, refuseSameNames } from './channels-by-name.ts'

/**
 * The section `price_feeds` of a configuration file: the price lists that are read on a schedule, by the name of the
 * channel. Because the query of a URL can contain a secret, plans and exports omit it. If an entry omits the URL, the
 * stored URL stays.
 */
export const priceFeedsKind: ConfigKind<'price_feeds'> = {
  section: 'price_feeds',
  names: (wanted) => Object.keys(wanted),

  async plan(trx, wanted, context) {
    const channels = Map.groupBy(await allChannels(trx), ({ name }) => name)
    const stored = await channelsWithFeeds(trx)
    const feeds = new Map(stored.map(({ id, price_feed }) => [id, feedOf(price_feed)]))
    const changes: PlannedChange[] = []
    for (const [name, entry] of Object.entries(wanted)) {
      const path = ['price_feeds', name]
      const label = `price_feeds: ${JSON.stringify(name)}`
      const change = await inEntry(path, label, () => {
        const channel = onlyChannel(channels.get(name))
        return planFeed(channel, feeds.get(channel.id), entry, context)
      })
      if (change) changes.push({ ...change, make: (trx) => inEntry(path, label, () => change.make(trx)) })
    }
    const others = stored.filter(({ name }) => !Object.hasOwn(wanted, name))
    if (context.prune)
      for (const row of others)
        changes.push({ op: 'remove', name: row.name, fields: [], make: (trx) => write(trx, row, undefined, context) })
    return { changes, unlisted: others.map(({ name }) => name) }
  },

  async export(db, _deps, placeholder) {
    const rows = await channelsWithFeeds(db)
    await refuseSameNames(db, rows, { section: 'price_feeds', what: 'price list' })
    const entries = rows
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap(({ name, price_feed }): [string, PriceFeedEntry][] => {
        const feed = feedOf(price_feed)
        if (!feed) return []
        const url = hasSecret(feed.url) ? placeholder(name, 'prices', 'url') : feed.url
        const { kind, group, every_hours } = feed
        return [[name, { kind, every_hours, ...(url !== undefined && { url }), ...(group !== '' && { group }) }]]
      })
    return entries.length === 0 ? undefined : (Object.fromEntries(entries) as ConfigFile['price_feeds'])
  },
}

/**
 * The maximum length of a URL. It is checked after references to secrets are replaced, because a secret can have any
 * length.
 */
const longestUrl = 500

/** Whether a URL may contain a key. Only the query can, because usernames and passwords in URLs are refused. */
function hasSecret(url: string): boolean {
  return url.includes('?')
}

const inputOf = ({ kind, url, group, every_hours }: FeedInput): FeedInput => ({ kind, url, group, every_hours })

function planFeed(
  channel: ChannelRow,
  before: StoredFeed | undefined,
  { kind, group, every_hours, url }: PriceFeedEntry,
  context: PlanContext,
): PlannedChange | undefined {
  const given = url === undefined ? (before?.url ?? '') : plainSecret(url).trim()
  if (given.length > longestUrl) throw new EntryFault(`the URL may have at most ${longestUrl} characters.`)
  const found = listUrl({ kind, url: given }, channel)
  if (typeof found !== 'string') throw new EntryFault(found.fault)
  const wanted = { kind, url: given === '' ? '' : found, group: group ?? '', every_hours }
  const fields = differences(before ? { ...inputOf(before) } : {}, wanted).map((each) =>
    each.field === 'url' ? { ...each, before: shownUrl(before?.url), after: shownUrl(wanted.url) } : each,
  )
  if (fields.length === 0) return undefined
  // If only the schedule changes, the state of the list is kept.
  const isSameList = before !== undefined && fields.every(({ field }) => field === 'every_hours')
  const feed = isSameList ? { ...before, every_hours } : newFeed(wanted)
  return {
    op: before ? 'change' : 'add',
    name: channel.name,
    fields,
    make: (trx) => write(trx, channel, { feed, host: new URL(found).host }, context),
  }
}

/** A URL without its query. */
function shownUrl(url: string | undefined): string {
  if (url === undefined) return ''
  return JSON.stringify(hasSecret(url) ? `${url.slice(0, url.indexOf('?'))}?${maskedSecret}` : url)
}

async function write(
  trx: Trx,
  { id }: Pick<ChannelRow, 'id'>,
  wanted: { feed: StoredFeed; host: string } | undefined,
  { deps, actor }: PlanContext,
): Promise<void> {
  await setPriceFeed(trx, id, wanted ? JSON.stringify(wanted.feed) : '')
  const detail = wanted ? `feed=${wanted.host} every_hours=${wanted.feed.every_hours}` : 'feed=none'
  await recordAudit(trx, auditEvent(deps.clock, actor, 'channel.set-costs', `channel ${id}`, detail))
}
