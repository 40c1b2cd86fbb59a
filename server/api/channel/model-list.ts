import type { ChannelTypeEntry } from '../../../contract/api/channel.ts'
import { modelEntry } from '../../../contract/model-entry.ts'

/**
 * Every model of the catalogue in the form of OpenAI's model list; a model that several types have is listed for the
 * first of them.
 */
export function modelList(catalogue: readonly ChannelTypeEntry[]) {
  const owners = new Map<string, string>()
  for (const entry of catalogue) {
    for (const model of entry.models) if (!owners.has(model)) owners.set(model, entry.name)
  }
  return { object: 'list' as const, data: [...owners].map(([model, owner]) => modelEntry(model, owner)) }
}
