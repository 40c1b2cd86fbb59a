import type { Channel } from '../../../contract/api/channel.ts'

/** Channels that failed for the same reason; the reason is the error of the first of them. */
export interface FailureGroup {
  reason: string
  channels: Channel[]
}

/** What differs between equal errors: ids, keys, URLs and numbers, except for the code of a status. */
const changing = /https?:\/\/\S+|\bsk-\S+|\b[\da-f]{8,}\b|\b\w*\d\w*-\w+(?:-\w+)+\b|\b\d{4,}\b/gi

/** The channels by the reason for which their test failed, the most frequent first. */
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
