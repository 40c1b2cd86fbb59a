import { heldFactor, type ModelCost, maxCostModels } from '../../contract/api/channel-costs.ts'

/** Prices by the model name that is sent upstream. */
export type CostTable = Readonly<Record<string, ModelCost>>

/** The numbers that a cost can have. */
export const rateNames = ['input', 'output', 'cached', 'cache_write', 'request', 'multiplier'] as const

/** A table's own entry for a model; undefined if it has none. */
export function ownCost(models: CostTable, model: string): ModelCost | undefined {
  return Object.hasOwn(models, model) ? models[model] : undefined
}

export function isSameCost(one: ModelCost, other: ModelCost): boolean {
  return rateNames.every((name) => one[name] === other[name])
}

/** The largest new rate divided by the old one; null if no rate is in both, or the old one was free. */
export function factorOf(old: ModelCost, cost: ModelCost): number | null {
  const factors = rateNames.flatMap((name) => {
    const [from, to] = [old[name], cost[name]]
    return from === undefined || to === undefined || from === 0 ? [] : [to / from]
  })
  return factors.length === 0 ? null : Math.max(...factors)
}

/** True if a rate becomes ten times as high or more, a tenth or less, or starts or ceases to be free. */
export function isHeld(old: ModelCost, cost: ModelCost): boolean {
  return rateNames.some((name) => {
    const [from, to] = [old[name], cost[name]]
    if (from === undefined || to === undefined || from === to) return false
    return to >= from * heldFactor || from >= to * heldFactor
  })
}

/**
 * The usual cost from which a first price of a model differs so much that it has to be confirmed: by a factor of ten or
 * more. Undefined if it is near any of the usual costs, or there are none. A usual cost of 0 says nothing.
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

/** A change in words, such as `m: input 1 → 2, output 4`. */
export function describeCost(model: string, old: ModelCost | undefined, cost: ModelCost): string {
  const rates = rateNames.flatMap((name) => {
    const [from, to] = [old?.[name], cost[name]]
    if (from === to) return []
    return [`${name} ${from === undefined ? '' : `${from} → `}${to ?? 'none'}`]
  })
  return `${model}: ${rates.join(', ')}`
}

/** What happens to the prices of a list that nobody has checked. */
export interface Merged {
  /** The table with all prices that need no confirmation. */
  models: Record<string, ModelCost>
  /** Prices that differ too much from the old ones, or first prices that differ too much from the usual ones. */
  held: Record<string, HeldCost>
}

/** A price that has to be confirmed. */
export interface HeldCost {
  cost: ModelCost
  /** What the model usually costs; absent if the price was compared with an old one. */
  usual?: ModelCost
}

/**
 * Takes the prices of `names` from a list. A model that is not in the list, or has a price of an unknown kind, keeps its
 * old price. Prices in `refused` were held before and are not used. `usual` returns what a model usually costs.
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
