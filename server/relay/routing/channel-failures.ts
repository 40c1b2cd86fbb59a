import type { Clock } from '../../lib/clock.ts'
import type { Store } from '../../store/store.ts'
import { addChannelFailures, type FailuresOfHour } from '../../store/usage/channel-failures.ts'

/** Counts failed attempts that were the channel's fault, for the channel's usage statistics. */
export interface ChannelFailures {
  note(channelId: number, model: string): void
  /** Writes the counts. If the database cannot be reached, they are kept for the next write. */
  write(): Promise<void>
}

/**
 * The maximum number of counts (one per hour, channel and model) that wait to be written. During a long database
 * outage, further counts are lost.
 */
const mostWaiting = 10_000
const hourMs = 3_600_000

/**
 * Counts failures in memory. Writing each failure to the database immediately would delay the retry on another channel.
 */
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
