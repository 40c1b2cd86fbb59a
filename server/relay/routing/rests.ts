import type { CoolDown } from './breaker.ts'
import { type Channel, mappedModel } from './routing-table.ts'

/**
 * Pauses that providers requested. A pause applies to one combination of URL, key and model. Channels that have the
 * same URL, key and model share the pause. A pause says nothing about the health of the service.
 */
export interface Rests {
  /** Begins a pause for the channel's current key. If `why` is given, operators are notified of the pause. */
  begin(channel: Channel, model: string, pauseMs: number, why?: string): void
  /** True while the key of the channel must not be used for the model. */
  has(channel: Channel, key: string, model: string): boolean
  /** True while all keys of the channel that the upstream has not refused are paused for the model. */
  isResting(channel: Channel, model: string): boolean
  /** The number of pauses, for metrics. */
  count(): number
}

/** When this many pauses are stored, the ones that have ended are deleted. */
const mostRemembered = 1000

/** `cooled` is called when a pause begins for which `why` is given. */
export function createRests(nowMs: () => number, cooled: (event: CoolDown) => void = () => undefined): Rests {
  const untilMs = new Map<string, number>()

  function forgetOver(): void {
    const now = nowMs()
    for (const [name, end] of untilMs) if (end <= now) untilMs.delete(name)
  }

  const has: Rests['has'] = (channel, key, model) => {
    // Usually nothing is paused, so no name has to be built.
    if (untilMs.size === 0) return false
    return (untilMs.get(nameOf(channel, key, model)) ?? 0) > nowMs()
  }
  return {
    has,
    begin(channel, model, pauseMs, why) {
      if (untilMs.size >= mostRemembered) forgetOver()
      const name = nameOf(channel, channel.upstream.key, model)
      const before = untilMs.get(name) ?? 0
      untilMs.set(name, Math.max(before, nowMs() + pauseMs))
      if (why === undefined || before > nowMs()) return
      const what = 'the provider asked for a pause'
      cooled({ channelId: channel.id, model, pauseMs, reason: why === '' ? what : `${what}: ${why}` })
    },
    isResting(channel, model) {
      if (untilMs.size === 0) return false
      const keys = channel.keyRing?.live() ?? [channel.upstream.key]
      return keys.length > 0 && keys.every((key) => has(channel, key, model))
    },
    count() {
      forgetOver()
      return untilMs.size
    },
  }
}

/**
 * The name under which a pause is stored. It includes the region, because some services have one URL for all regions
 * but separate limits for each.
 */
function nameOf(channel: Channel, key: string, model: string): string {
  const { baseUrl, config } = channel.upstream
  return `${channel.type} ${baseUrl} ${String(config['region'] ?? '')} ${mappedModel(channel, model)}\n${key}`
}
