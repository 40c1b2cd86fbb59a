import type { Channel } from '../../../contract/api/channel.ts'

/** Channels that failed for the same reason. The reason is the error of the first channel. */
export interface FailureGroup {
  reason: string
  channels: Channel[]
}

/** The parts that differ between otherwise equal errors: ids, keys, URLs and numbers, except status codes. */
const changing = /https?:\/\/\S+|\bsk-\S+|\b[\da-f]{8,}\b|\b\w*\d\w*-\w+(?:-\w+)+\b|\b\d{4,}\b/gi

/** Groups channels by the reason why their test failed. The most frequent reason comes first. */
export function failureGroups(failed: readonly Channel[]): FailureGroup[] {
  const groups = new Map<string, FailureGroup>()
  for (const channel of failed) {
    const key = channel.test_error.replaceAll(changing, '…').replaceAll(/\s+/g, ' ').trim().toLowerCase()
    const group = groups.get(key) ?? { reason: channel.test_error, channels: [] }
    group.channels.push(channel)
    groups.set(key, group)
  }
  return [...groups.values()].sort((a, b) => b.channels.length - a.channels.length)
}
