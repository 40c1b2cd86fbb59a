import { modelEntry } from '../../../contract/model-entry.ts'
import type { DialectName } from '../../dialects/neutral/conversation.ts'
import { GatewayError } from '../../errors.ts'
import { providers } from '../../providers/registry.ts'
import type { Caller } from '../call/caller.ts'
import { type Planner, type PlanStep, planOf } from '../call/plan.ts'
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
 * The models that the caller may use: those that a channel serves for its group, and the virtual models of that group.
 * If the token has a list of models, only those on the list are returned.
 */
export function modelsFor(caller: Caller, routing: RoutingTable): string[] {
  const { allowedModels } = caller
  const served = routing.models(caller.group).filter((model) => !allowedModels || allowedModels.has(model))
  const virtual = virtualNames(routing, caller.group)
  if (virtual.length === 0) return served
  const usable = virtual.filter((model) => isUsable(caller, routing, model))
  return [...served.filter((model) => !virtual.includes(model)), ...usable].sort()
}

/** The names of the virtual models that a group may use. */
export function virtualNames(routing: RoutingTable, group: string): string[] {
  return [...routing.virtuals().keys()].filter((name) => routing.virtual(group, name))
}

/** The steps of a virtual model for a group, without the restrictions of a token. */
export function stepsFor(routing: RoutingTable, group: string, name: string): readonly PlanStep[] {
  return stepsOf(routing, { group, allowedModels: undefined, chosenChannel: undefined }, name)
}

/** True if a step that the token may use is served by a channel. */
function isUsable(caller: Caller, routing: RoutingTable, model: string): boolean {
  return stepsOf(routing, caller, model).some(
    (step) => routing.candidates(step.group ?? caller.group, step.model).length > 0,
  )
}

function stepsOf(routing: RoutingTable, caller: Planner, model: string): readonly PlanStep[] {
  try {
    return planOf({ routing, caller }, model)?.steps ?? []
  } catch (error) {
    if (error instanceof GatewayError) return []
    throw error
  }
}
