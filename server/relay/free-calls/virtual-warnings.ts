import type { VirtualWarning } from '../../../contract/api/virtual-model.ts'
import { circleOfSteps } from '../../../contract/circle-of-steps.ts'
import type { RelayDeps } from '../call/deps.ts'
import { mappedModel, type RoutingTable } from '../routing/routing-table.ts'
import type { VirtualModel } from '../routing/virtual-models.ts'

/** Warnings about a virtual model that works, but perhaps not as intended. An unknown name has no warnings. */
export function virtualWarnings(name: string, deps: Pick<RelayDeps, 'routing' | 'prices'>): VirtualWarning[] {
  const routing = deps.routing()
  const virtual = routing.virtuals().get(name)
  if (!virtual) return []
  const groups = virtual.groups ? [...virtual.groups] : routing.groups()
  const warnings: VirtualWarning[] = []
  const hidden = groups.filter((group) => routing.allCandidates(group, name).length > 0)
  if (hidden.length > 0) warnings.push({ kind: 'real_model', model: name, group: only(hidden, groups) })
  if (circleOfSteps([...routing.virtuals().values()], name)) warnings.push({ kind: 'circle', model: name, group: '' })
  for (const step of virtual.steps) {
    if (routing.virtuals().get(step.model)?.isEnabled) continue
    const serving = step.group === undefined ? groups : [step.group]
    const unserved = serving.filter((group) => routing.candidates(group, step.model).length === 0)
    // If all groups may use the virtual model, there is a warning only if none of them has a channel for the step.
    if (virtual.groups || step.group !== undefined || unserved.length === serving.length)
      for (const group of virtual.groups || step.group !== undefined ? unserved : [''])
        warnings.push({ kind: 'unserved', model: step.model, group })
    if (unserved.length < serving.length && !isPriced(deps, routing, virtual, step.model, serving))
      warnings.push({ kind: 'unpriced', model: step.model, group: '' })
  }
  return warnings
}

function only(some: readonly string[], all: readonly string[]): string {
  return some.length === 1 && all.length > 1 ? (some[0] ?? '') : ''
}

function isPriced(
  { prices }: Pick<RelayDeps, 'prices'>,
  routing: RoutingTable,
  { price }: VirtualModel,
  model: string,
  groups: readonly string[],
): boolean {
  if (price) return true
  const candidates = groups.flatMap((group) => routing.candidates(group, model))
  return candidates.some(({ channel }) => prices().sheet(mappedModel(channel, model), channel.type) !== undefined)
}
