import { modelEntry } from '../lib/model-entry.ts'
import { providers } from '../providers/registry.ts'
import type { Caller } from './caller.ts'
import type { RoutingTable } from './routing-table.ts'

const owners = new Map(
  providers.flatMap(({ meta }) => meta.models.map((model) => [model, meta.name] as const)).reverse(),
)

/** A model as the list of models has it. */
export function listedModel(id: string) {
  return modelEntry(id, owners.get(id))
}

/** Models the caller may use: those of its group that some channel serves, within the token's own list. */
export function modelsFor(caller: Caller, routing: RoutingTable): string[] {
  const served = routing.models(caller.group)
  return caller.allowedModels ? served.filter((model) => caller.allowedModels?.has(model)) : [...served]
}
