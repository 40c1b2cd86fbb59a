import { maxReason } from '../../contract/api/channel-operations.ts'
import { channelStatus } from '../../contract/statuses.ts'
import type { Events } from '../events.ts'
import { type Clock, epochSeconds } from '../lib/clock.ts'
import { keysIn } from '../lib/key-lines.ts'
import type { Secrets } from '../lib/secrets.ts'
import type { RoutingSource } from '../relay/routing-table.ts'
import { moveChannelStatus } from '../store/channel-health.ts'
import { addDeadKey, forgetDeadKeys, type SealedKeys } from '../store/channel-keys.ts'
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

/** Switches channels and keys off after upstream faults and on again, on every node at once, and tells root. */
export interface ChannelSwitch {
  /** An enabled channel gets status 3. */
  disable(id: number, reason: string): Promise<void>
  /** A channel with status 3 is enabled again; one that a person switched off stays off. */
  enable(id: number): Promise<void>
  /**
   * A key that the upstream refused is used no more; with `orDisable` the channel is disabled when it has no other. Nothing
   * happens when the channel has that key no more.
   */
  setKeyAside(id: number, key: string, reason: string, orDisable: boolean): Promise<void>
  /** A key is used again. */
  reviveKey(id: number, key: string): Promise<void>
}

export function createChannelSwitch(deps: ChannelSwitchDeps): ChannelSwitch {
  const { store, routing, secrets, clock, events, notifyRoot } = deps
  const nameOf = (id: number) => `channel ${id} (${routing.current().channel(id)?.name ?? 'unknown'})`
  const hashOf = (key: string) => secrets.fingerprint(key, 'channel-key')

  /** Those of now: a call may have failed with a key that somebody replaced while it ran. */
  function hashesOf({ key, key_mode }: SealedKeys): string[] {
    try {
      return keysIn(secrets.open(key, 'channel'), key_mode).map(hashOf)
    } catch {
      return []
    }
  }

  async function move(id: number, from: number, to: number): Promise<boolean> {
    const moved = await store.write((trx) => moveChannelStatus(trx, id, from, to))
    if (moved) await store.notices.publish({ topic: 'channels', id })
    return moved
  }

  async function disable(id: number, reason: string): Promise<void> {
    if (!(await move(id, channelStatus.enabled, channelStatus.autoDisabled))) return
    events.channelDisabled({ channelId: id, reason })
    notifyRoot(`${nameOf(id)} was disabled`, `It was disabled automatically: ${reason}`)
  }

  return {
    disable,
    async enable(id) {
      if (!(await move(id, channelStatus.autoDisabled, channelStatus.enabled))) return
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
        .write((trx) => addDeadKey(trx, dead, (keys) => hashesOf(keys).includes(dead.key_hash)))
        .finally(() => routing.current().channel(id)?.keyRing?.stored(key))
      if (result?.added) {
        await store.notices.publish({ topic: 'channels', id })
        events.warning(`a key of ${nameOf(id)} was set aside, ${result.left} left: ${reason}`)
        if (result.left > 0)
          notifyRoot(`a key of ${nameOf(id)} was set aside`, `${result.left} keys are left: ${reason}`)
      }
      if (result?.left !== 0 || !orDisable) return
      await disable(id, result.mode === 'single' ? reason : `none of its keys is of use; the last: ${reason}`)
    },
    async reviveKey(id, key) {
      if ((await store.write((trx) => forgetDeadKeys(trx, id, [hashOf(key)]))) > 0) {
        await store.notices.publish({ topic: 'channels', id })
      }
    },
  }
}
