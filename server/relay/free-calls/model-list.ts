import { modelEntry } from '../../../contract/model-entry.ts'
import type { DialectName } from '../../dialects/neutral/conversation.ts'
import { providers } from '../../providers/registry.ts'
import type { Caller } from '../call/caller.ts'
import type { RoutingTable } from '../routing/routing-table.ts'

const owners = new Map(
  providers.flatMap(({ meta }) => meta.models.map((model) => [model, meta.name] as const)).reverse(),
)

type Listing = Exclude<DialectName, 'openai-responses'>

/**
 * Returns a function that writes a list of models as clients of a dialect expect it (each service's reference, "List
 * models").
 */
export function modelList(dialect: Listing): (models: readonly string[]) => object {
  const one = oneModel(dialect)
  return (models) => {
    const data = models.map(one)
    if (dialect === 'gemini') return { models: data }
    if (dialect === 'openai-chat') return { object: 'list', data }
    return { data, has_more: false, first_id: models[0] ?? null, last_id: models.at(-1) ?? null }
  }
}

/** Returns a function that writes one model as clients of a dialect expect it. */
export function oneModel(dialect: Listing): (model: string) => object {
  return (id) => {
    if (dialect === 'openai-chat') return modelEntry(id, owners.get(id))
    if (dialect === 'anthropic-messages')
      return { type: 'model', id, display_name: id, created_at: '1970-01-01T00:00:00Z' }
    const methods = ['generateContent', 'streamGenerateContent', 'countTokens', 'embedContent', 'batchEmbedContents']
    return { name: `models/${id}`, displayName: id, supportedGenerationMethods: methods }
  }
}

/**
 * The models that the caller is allowed to use: those that a channel serves for its group, limited to the token's own
 * list.
 */
export function modelsFor(caller: Caller, routing: RoutingTable): string[] {
  const served = routing.models(caller.group)
  return caller.allowedModels ? served.filter((model) => caller.allowedModels?.has(model)) : [...served]
}
