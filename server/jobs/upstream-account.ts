import { channelStatus } from '../../contract/statuses.ts'
import { GatewayError } from '../errors.ts'
import { type Clock, epochSeconds } from '../lib/clock.ts'
import { inParallel } from '../lib/in-parallel.ts'
import type { JsonObject } from '../lib/json.ts'
import { withoutKey } from '../lib/secrets/without-key.ts'
import { type FetchJsonThrough, through } from '../outbound/fetch-json.ts'
import type { Upstream } from '../providers/provider.ts'
import { type Channel, type RoutingSource, withKey } from '../relay/routing/routing-table.ts'
import type { Settings } from '../settings/settings.ts'
import { recordBalance } from '../store/channels/channels.ts'
import type { Store } from '../store/store.ts'
import type { ChannelSwitch } from './channel-switch.ts'

export interface AskDeps {
  store: Store
  routing: RoutingSource
  clock: Clock
  settings(): Settings
  channelSwitch: ChannelSwitch
  fetchJson: FetchJsonThrough
  warn(message: string): void
}

/** The response of an upstream, or the reason why there is none. */
export type UpstreamResult<T> = { ok: true; value: T } | { ok: false; message: string }

/** Queries upstreams about their accounts and models. */
export interface AskUpstream {
  /** The sum of the remaining balances of all keys in use. It is saved with the channel. */
  balance(id: number): Promise<UpstreamResult<number>>
  /**
   * Updates the balances of all enabled channels that support this. Returns false if an update is already in progress.
   */
  allBalances(): Promise<boolean>
  /** The names of the channel's models, sorted. */
  models(id: number): Promise<UpstreamResult<string[]>>
  /** The JSON object at a URL, which is read through the channel's proxy and without its key. */
  prices(id: number, url: string): Promise<UpstreamResult<JsonObject>>
}

/** The number of channels that are queried at the same time. */
const width = 8
/** The maximum number of keys of one channel that are queried. Querying more would delay the response for too long. */
const mostKeys = 50
/** The longest time that `allBalances` waits. Queries that are still running then continue in the background. */
const longestWaitMs = 30_000

const absent = {
  ok: false,
  message: 'The channel does not exist, its type is not supported, or its key cannot be read.',
} as const
const notImplemented = { ok: false, message: 'This is not available for this channel type.' } as const
const noAddress = { ok: false, message: 'The channel has no base_url, and its type has no default.' } as const

export function createAskUpstream(deps: AskDeps): AskUpstream {
  const { store, routing, clock, settings, channelSwitch, fetchJson } = deps
  let running = false

  async function balanceOf(channel: Channel): Promise<UpstreamResult<number>> {
    const { balance } = channel.provider
    if (!balance) return notImplemented
    if (channel.upstream.baseUrl === '') return noAddress
    const keys = keysInUse(channel)
    const ask = through(fetchJson, channel.carries?.proxy)
    let sum = 0
    for (const key of keys) {
      const one = await asking({ ...channel.upstream, key }, (upstream) => balance(upstream, ask, clock.nowMs()))
      if (!one.ok) return one
      sum += one.value
    }
    await store.write((trx) => recordBalance(trx, channel.id, sum, epochSeconds(clock)))
    return { ok: true, value: sum }
  }

  async function updateAll(): Promise<void> {
    const channels = await enabledChannels()
    await inParallel(channels, width, async (channel) => {
      const answer = await balanceOf(channel)
      if (!answer.ok) deps.warn(`the balance of channel ${channel.id} is not known: ${answer.message}`)
      else if (answer.value <= 0 && settings().AutomaticDisableChannelEnabled) {
        await channelSwitch.disable(channel.id, 'its balance is used up')
      }
    })
  }

  async function enabledChannels(): Promise<Channel[]> {
    await routing.reload()
    return routing
      .current()
      .channels()
      .filter((channel) => channel.status === channelStatus.enabled && channel.provider.balance !== undefined)
  }

  return {
    async balance(id) {
      await routing.reload()
      const channel = routing.current().channel(id)
      return channel ? balanceOf(channel) : absent
    },
    async allBalances() {
      if (running) return false
      running = true
      const work = updateAll()
        .catch((error: unknown) => deps.warn(`updating the balances failed: ${String(error)}`))
        .finally(() => {
          running = false
        })
      await Promise.race([work, afterMs(longestWaitMs)])
      return true
    },
    async models(id) {
      await routing.reload()
      const channel = routing.current().channel(id)
      if (!channel) return absent
      const { listModels } = channel.provider
      if (!listModels) return notImplemented
      const { upstream } = withKey(channel)
      if (upstream.baseUrl === '') return noAddress
      const ask = through(fetchJson, channel.carries?.proxy)
      const answer = await asking(upstream, (each) => listModels(each, ask, clock.nowMs()))
      return answer.ok ? { ok: true, value: [...new Set(answer.value)].sort() } : answer
    },
    async prices(id, url) {
      await routing.reload()
      const channel = routing.current().channel(id)
      if (!channel) return absent
      const ask = through(fetchJson, channel.carries?.proxy)
      return asking(channel.upstream, () => ask(url, { accept: 'application/json' }))
    },
  }
}

function keysInUse({ keyRing, upstream }: Channel): readonly string[] {
  if (!keyRing) return [upstream.key]
  const live = keyRing.live()
  return (live.length > 0 ? live : keyRing.dead()).slice(0, mostKeys)
}

async function asking<T>(upstream: Upstream, ask: (upstream: Upstream) => Promise<T>): Promise<UpstreamResult<T>> {
  try {
    return { ok: true, value: await ask(upstream) }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return { ok: false, message: withoutKey(error.message, upstream.key) }
  }
}

function afterMs(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
  })
}
