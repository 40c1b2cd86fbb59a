import type { PricedModel, PriceList } from '../../../contract/api/price.ts'
import { type PriceSheet, ratioOne } from '../../billing/price.ts'
import { pricesOf } from '../../billing/price-list.ts'
import type { RelayDeps } from '../call/deps.ts'
import { mappedModel } from '../routing/routing-table.ts'
import { stepsFor, virtualNames } from './model-list.ts'

type Pricing = Pick<RelayDeps, 'routing' | 'prices'>

/**
 * The prices that the relay would charge now for a token of the group `group` whose owner is in `userGroup`. They come
 * from the same routes and the same price book as in the relay.
 */
export function priceList(group: string, deps: Pricing, userGroup?: string): PriceList {
  const table = deps.routing()
  const ratio = deps.prices().groupRatio(group, userGroup)
  const virtual = virtualNames(table, group)
  const real = table.models(group).filter((model) => !virtual.includes(model))
  const models = [
    ...real.map((model) => pricedModel(deps, ratio, model, [{ model, group }])),
    ...virtual.flatMap((name) => pricedVirtual(deps, ratio, group, name) ?? []),
  ]
  return {
    group,
    ratio: Number(ratio) / Number(ratioOne),
    models: models.sort((a, b) => (a.model < b.model ? -1 : 1)),
  }
}

/** A model and the group whose channels serve it. */
interface Served {
  model: string
  group: string
}

function pricedModel(
  { routing, prices }: Pricing,
  ratio: bigint,
  model: string,
  served: readonly Served[],
): PricedModel {
  const [table, book] = [routing(), prices()]
  let [renamed, unpriced] = [false, false]
  // A thousand channels may share a few price sheets, so the slow work is done once per sheet.
  const sheets = new Set<PriceSheet>()
  for (const each of served) {
    for (const { channel } of table.candidates(each.group, each.model)) {
      const upstream = mappedModel(channel, each.model)
      renamed ||= upstream !== model
      const sheet = book.sheet(upstream, channel.type)
      if (sheet) sheets.add(sheet)
      else unpriced = true
    }
  }
  return { model, prices: pricesOf(sheets, ratio), unpriced, renamed }
}

/** A virtual model with its fixed price, or with the prices of its steps. Undefined if no step is served. */
function pricedVirtual(deps: Pricing, ratio: bigint, group: string, name: string): PricedModel | undefined {
  const table = deps.routing()
  const steps = stepsFor(table, group, name).filter(
    (step) => table.candidates(step.group ?? group, step.model).length > 0,
  )
  if (steps.length === 0) return undefined
  const answeredBy = [...new Set(steps.map(({ model }) => model))]
  const fixed = new Set(steps.flatMap(({ price }) => (price ? [deps.prices().fixedSheet(name, price)] : [])))
  const asStep = steps.filter(({ price }) => !price).map((step) => ({ model: step.model, group: step.group ?? group }))
  const priced = pricedModel(deps, ratio, name, asStep)
  return {
    ...priced,
    prices: fixed.size === 0 ? priced.prices : [...pricesOf(fixed, ratio), ...priced.prices],
    renamed: true,
    answered_by: answeredBy,
  }
}
