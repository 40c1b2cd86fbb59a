import type { ChannelTypeEntry } from '../../../contract/api/channel.ts'

const created = 1_626_777_600

const permission = {
  id: 'modelperm-tollgate',
  object: 'model_permission',
  created,
  allow_create_engine: true,
  allow_sampling: true,
  allow_logprobs: true,
  allow_search_indices: false,
  allow_view: true,
  allow_fine_tuning: false,
  organization: '*',
  group: null,
  is_blocking: false,
}

/** Every model of the catalogue in the form of OpenAI's model list; a model that several types have belongs to the first. */
export function modelList(catalogue: readonly ChannelTypeEntry[]) {
  const owners = new Map<string, string>()
  for (const entry of catalogue) {
    for (const model of entry.models) if (!owners.has(model)) owners.set(model, entry.name)
  }
  return {
    object: 'list' as const,
    data: [...owners].map(([id, owned_by]) => ({
      id,
      object: 'model' as const,
      created,
      owned_by,
      permission: [permission],
      root: id,
      parent: null,
    })),
  }
}
