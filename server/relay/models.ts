import { providers } from '../providers/registry.ts'
import type { Caller } from './caller.ts'
import type { RoutingTable } from './routing-table.ts'

/** Time that one-api gives for every model; clients only want a number there. */
const created = 1_626_777_600

const permission = [
  {
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
  },
]

const owners = new Map(
  providers.flatMap(({ meta }) => meta.models.map((model) => [model, meta.name] as const)).reverse(),
)

/** One entry of a model list, in OpenAI's shape with one-api's additions. */
export function modelEntry(id: string) {
  const owner = owners.get(id)
  return {
    id,
    object: 'model',
    created,
    owned_by: owner ?? 'custom',
    permission: owner ? permission : [],
    root: id,
    parent: null,
  }
}

/** Models the caller may use: those of its group that some channel serves, within the token's own list. */
export function modelsFor(caller: Caller, routing: RoutingTable): string[] {
  const served = routing.models(caller.group)
  return caller.allowedModels ? served.filter((model) => caller.allowedModels?.has(model)) : [...served]
}
