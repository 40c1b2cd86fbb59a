import type { Clock } from '../../lib/clock.ts'
import type { Store } from '../../store/store.ts'
import { addChannelFailures, type FailuresOfHour } from '../../store/usage/channel-failures.ts'

/** Counts attempts that failed for a reason that lies with the channel, for its usage. */
export interface ChannelFailures {
  note(channelId: number, model: string): void
  /** Writes what was counted; of a database that is away it is kept for the next time. */
  write(): Promise<void>
}

/** Hours, channels and models that wait to be written; a database that is away for long loses those beyond. */
const mostWaiting = 10_000
const hourMs = 3_600_000

/** Counts in memory, so that a failed attempt costs nothing while it is being rescued. */
export function createChannelFailures(store: Store, clock: Clock): ChannelFailures {
  let waiting = new Map<string, FailuresOfHour>()

  function add(count: FailuresOfHour): void {
    const key = `${count.slot} ${count.channel_id} ${count.model_name}`
    const known = waiting.get(key)
    if (known) known.attempts += count.attempts
    else if (waiting.size < mostWaiting) waiting.set(key, count)
  }

  return {
    note(channelId, model) {
      const slot = Math.floor(clock.nowMs() / hourMs)
      add({ channel_id: channelId, model_name: model, slot, attempts: 1 })
    },
    async write() {
      if (waiting.size === 0) return
      const taken = [...waiting.values()]
      waiting = new Map()
      try {
        await store.write((trx) => addChannelFailures(trx, taken))
      } catch (error) {
        for (const each of taken) add(each)
        throw error
      }
    },
  }
}
