import { maxReason } from '../../contract/api/channel-operations.ts'
import { channelStatus } from '../../contract/statuses.ts'
import type { Events } from '../events.ts'
import { type Clock, epochSeconds } from '../lib/clock.ts'
import type { Secrets } from '../lib/secrets/secrets.ts'
import type { CoolDown } from '../relay/routing/breaker.ts'
import type { RoutingSource } from '../relay/routing/routing-table.ts'
import { addChannelEvent, type ChannelEvent, moveChannelStatus } from '../store/channels/channel-health.ts'
import { addDeadKey, forgetDeadKeys, type SealedKeys } from '../store/channels/channel-keys.ts'
import { keysIn } from '../store/channels/key-lines.ts'
import type { Store } from '../store/store.ts'
import type { NotifyRoot } from './notify.ts'

export interface ChannelSwitchDeps {
  store: Store
  routing: RoutingSource
  secrets: Secrets
  clock: Clock
  events: Events
  notifyRoot: NotifyRoot
}

/**
 * Disables channels and pauses keys after upstream failures, enables them again, and notifies root. Each change takes
 * effect on all nodes.
 */
export interface ChannelSwitch {
  /** Sets an enabled channel to status 3 (disabled automatically). */
  disable(id: number, reason: string): Promise<void>
  /** Enables a channel with status 3 again. A channel that a person disabled stays disabled. */
  enable(id: number): Promise<void>
  /**
   * Pauses a key that the upstream rejected. With `orDisable`, the channel is disabled if it has no other key. Does
   * nothing if the channel no longer has this key.
   */
  setKeyAside(id: number, key: string, reason: string, orDisable: boolean): Promise<void>
  /** Uses a paused key again. */
  reviveKey(id: number, key: string): Promise<void>
  /**
   * Records in the channel's history that this process skips the channel for a while. It records this at most once a
   * minute for each channel and model.
   */
  cooled(event: CoolDown): Promise<void>
}

const minuteMs = 60_000
/** The maximum number of pairs of channel and model whose last cool-down is remembered. */
const mostRemembered = 10_000

export function createChannelSwitch(deps: ChannelSwitchDeps): ChannelSwitch {
  const { store, routing, secrets, clock, events, notifyRoot } = deps
  const nameOf = (id: number) => `channel ${id} (${routing.current().channel(id)?.name ?? 'unknown'})`
  const hashOf = (key: string) => secrets.fingerprint(key, 'channel-key')

  /**
   * The hashes of the channel's current keys. They are compared with the key of a failed call, because that key may
   * have been replaced while the call ran.
   */
  function hashesOf({ key, key_mode }: SealedKeys): string[] {
    try {
      return keysIn(secrets.open(key, 'channel'), key_mode).map(hashOf)
    } catch {
      return []
    }
  }

  const cooledAtMs = new Map<string, number>()
  const eventOf = (id: number, action: ChannelEvent['action'], what: string, reason: string): ChannelEvent => ({
    at: epochSeconds(clock),
    channelId: id,
    action,
    content: `${nameOf(id)} ${what}`,
    reason,
  })

  async function move(id: number, from: number, to: number, event: ChannelEvent): Promise<boolean> {
    const moved = await store.write(async (trx) => {
      if (!(await moveChannelStatus(trx, id, from, to))) return false
      await addChannelEvent(trx, event)
      return true
    })
    if (moved) await store.notices.publish({ topic: 'channels', id })
    return moved
  }

  async function disable(id: number, reason: string): Promise<void> {
    const event = eventOf(id, 'channel.auto-disable', 'was disabled automatically', reason)
    if (!(await move(id, channelStatus.enabled, channelStatus.autoDisabled, event))) return
    events.channelDisabled({ channelId: id, reason })
    notifyRoot(`${nameOf(id)} was disabled`, `It was disabled automatically: ${reason}`)
  }

  return {
    disable,
    async enable(id) {
      const event = eventOf(id, 'channel.auto-enable', 'was enabled automatically', 'it passed its test')
      if (!(await move(id, channelStatus.autoDisabled, channelStatus.enabled, event))) return
      notifyRoot(`${nameOf(id)} was enabled`, 'It passed its test and was enabled automatically.')
    },
    async setKeyAside(id, key, reason, orDisable) {
      const dead = {
        channel_id: id,
        key_hash: hashOf(key),
        reason: reason.slice(0, maxReason),
        since: epochSeconds(clock),
      }
      const result = await store
        .write(async (trx) => {
          const added = await addDeadKey(trx, dead, (keys) => hashesOf(keys).includes(dead.key_hash))
          const what = `paused a key, ${added?.left ?? 0} left`
          if (added?.added) await addChannelEvent(trx, eventOf(id, 'channel.set-key-aside', what, reason))
          return added
        })
        .finally(() => routing.current().channel(id)?.keyRing?.stored(key))
      if (result?.added) {
        await store.notices.publish({ topic: 'channels', id })
        events.warning(`a key of ${nameOf(id)} was paused, ${result.left} left: ${reason}`)
        if (result.left > 0)
          notifyRoot(`a key of ${nameOf(id)} was paused`, `Keys left: ${result.left}. Reason: ${reason}`)
      }
      if (result?.left !== 0 || !orDisable) return
      await disable(id, result.mode === 'single' ? reason : `none of its keys works; the last error: ${reason}`)
    },
    async reviveKey(id, key) {
      const event = eventOf(id, 'channel.revive-key', 'resumed a key', 'it passed its test')
      const revived = await store.write(async (trx) => {
        const count = await forgetDeadKeys(trx, id, [hashOf(key)])
        if (count > 0) await addChannelEvent(trx, event)
        return count
      })
      if (revived > 0) await store.notices.publish({ topic: 'channels', id })
    },
    async cooled({ channelId, model, pauseMs, reason }) {
      const key = `${channelId} ${model}`
      const nowMs = clock.nowMs()
      const lastMs = cooledAtMs.get(key)
      if (lastMs !== undefined && nowMs - lastMs < minuteMs) return
      if (cooledAtMs.size >= mostRemembered) cooledAtMs.clear()
      cooledAtMs.set(key, nowMs)
      const what = `was paused for ${Math.ceil(pauseMs / 1000)} s for model ${model}`
      await store.write((trx) => addChannelEvent(trx, eventOf(channelId, 'channel.cool-down', what, reason)))
    },
  }
}
