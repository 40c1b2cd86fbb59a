import { heldFactor, type ModelCost, maxCostModels } from '../../contract/api/channel-costs.ts'

/** Prices by upstream model name. */
export type CostTable = Readonly<Record<string, ModelCost>>

/** The rates that a cost can have. */
export const rateNames = ['input', 'output', 'cached', 'cache_write', 'request', 'multiplier'] as const

/** The entry of a model in a table; undefined if there is none. */
export function ownCost(models: CostTable, model: string): ModelCost | undefined {
  return Object.hasOwn(models, model) ? models[model] : undefined
}

export function isSameCost(one: ModelCost, other: ModelCost): boolean {
  return rateNames.every((name) => one[name] === other[name])
}

/**
 * The largest factor between an old rate above 0 and the new rate of the same name. Null if there is no such pair of
 * rates.
 */
export function factorOf(old: ModelCost, cost: ModelCost): number | null {
  const factors = rateNames.flatMap((name) => {
    const [from, to] = [old[name], cost[name]]
    return from === undefined || to === undefined || from === 0 ? [] : [to / from]
  })
  return factors.length === 0 ? null : Math.max(...factors)
}

/** True if a rate rises to at least ten times the old one, falls to a tenth or less, or changes from or to 0. */
export function isHeld(old: ModelCost, cost: ModelCost): boolean {
  return rateNames.some((name) => {
    const [from, to] = [old[name], cost[name]]
    if (from === undefined || to === undefined || from === to) return false
    return to >= from * heldFactor || from >= to * heldFactor
  })
}

/**
 * Checks the first price of a model against the model's usual costs. If the price differs from each of them by a factor
 * of ten or more, an admin must confirm it, and the result is the first usual cost. Otherwise, or if there are no usual
 * costs, the result is undefined. Usual rates of 0 are ignored.
 */
export function implausibleAgainst(usual: readonly ModelCost[], cost: ModelCost): ModelCost | undefined {
  const known = usual.map(
    (each) => Object.fromEntries(Object.entries(each).filter(([, rate]) => rate > 0)) as ModelCost,
  )
  return known.every((each) => isHeld(each, cost)) ? usual[0] : undefined
}

/** The models whose costs differ between two tables. */
export function changedModels(old: CostTable, now: CostTable): string[] {
  const names = new Set([...Object.keys(old), ...Object.keys(now)])
  return [...names].filter((model) => {
    const [from, to] = [ownCost(old, model), ownCost(now, model)]
    return !from || !to || !isSameCost(from, to)
  })
}

/** A text that describes a change, such as `m: input 1 → 2, output 4`. */
export function describeCost(model: string, old: ModelCost | undefined, cost: ModelCost): string {
  const rates = rateNames.flatMap((name) => {
    const [from, to] = [old?.[name], cost[name]]
    if (from === to) return []
    return [`${name} ${from === undefined ? '' : `${from} → `}${to ?? 'none'}`]
  })
  return `${model}: ${rates.join(', ')}`
}

/** The result of merging a list of unchecked prices into a cost table. */
export interface Merged {
  /** The table with all prices that need no confirmation. */
  models: Record<string, ModelCost>
  /**
   * Prices that need confirmation, because they differ too much from the old prices. The first price of a model is
   * compared with the model's usual costs instead.
   */
  held: Record<string, HeldCost>
}

/** A price that has to be confirmed. */
export interface HeldCost {
  cost: ModelCost
  /** The usual cost of the model; absent if the price was compared with an old one. */
  usual?: ModelCost
}

/**
 * Merges the prices of the models `names` from `list` into `old`. A model that is not in the list, or whose price is of
 * an unknown kind (null), keeps its old price. Prices in `refused` were rejected by an admin, so they are neither used
 * nor held again. `usual` returns the usual costs of a model.
 */
export function mergePrices(
  { old, refused, usual }: { old: CostTable; refused: CostTable; usual: (model: string) => readonly ModelCost[] },
  list: ReadonlyMap<string, ModelCost | null>,
  names: readonly string[],
): Merged {
  const models: Record<string, ModelCost> = { ...old }
  const held: Record<string, HeldCost> = {}
  let room = maxCostModels - Object.keys(old).length
  for (const name of names) {
    const cost = list.get(name)
    const before = ownCost(old, name)
    if (!cost || (!before && room <= 0)) continue
    if (!before) room--
    const against = before ? isHeld(before, cost) && before : implausibleAgainst(usual(name), cost)
    if (!against) models[name] = cost
    else {
      const known = ownCost(refused, name)
      if (!known || !isSameCost(known, cost)) held[name] = before ? { cost } : { cost, usual: against }
    }
  }
  return { models, held }
}
