import type { ModelPriceEntry } from '../../../contract/api/option.ts'
import { parseJson } from './json-text.ts'

/** The options that the ratio editor shows as tables. */
export const ratioKeys = ['ModelRatio', 'CompletionRatio', 'GroupRatio'] as const
export type RatioKey = (typeof ratioKeys)[number]

/** Ratios by name. */
export type Ratios = Readonly<Record<string, number>>

/** The entries of a ratio option; undefined if the text contains anything other than numbers. */
export function readRatios(source: string): Ratios | undefined {
  const entries = parseJson(source)
  if (!entries || !Object.values(entries).every((value) => typeof value === 'number')) return undefined
  return entries as Ratios
}

/** The text of a ratio option. */
export function writeRatios(ratios: Ratios): string {
  return JSON.stringify(ratios, null, 2)
}

/** Rounds a ratio to six decimals. */
function rounded(value: number): number {
  return Number(value.toFixed(6))
}

/** Returns the entries with one of them set; undefined removes the entry. */
export function withRatio(ratios: Ratios, name: string, value: number | undefined): Ratios {
  const { [name]: _old, ...rest } = ratios
  if (value === undefined) return rest
  // An entry that already exists keeps its position.
  return { ...(Object.hasOwn(ratios, name) ? ratios : rest), [name]: rounded(value) }
}

/** The model entries that the administrator has set; built-in prices are not included. */
export interface ModelRatios {
  prompt: Ratios
  completion: Ratios
}

export type PriceSource = ModelPriceEntry['source']

/** A model in the table. */
export interface ModelRow {
  model: string
  /** Entries that the administrator has set; undefined if the built-in price applies. */
  prompt: number | undefined
  completion: number | undefined
  /** The values that apply if the administrator has not set an entry; undefined = no price. */
  usualPrompt: number | undefined
  usualCompletion: number
  source: PriceSource
  /** How many channels serve the model. */
  channels: number
  /** Calls of the last 7 days; undefined = not known. */
  calls: number | undefined
}

/** Every model that is served or has an entry; models with the most calls come first. */
export function modelRows(
  own: ModelRatios,
  prices: readonly ModelPriceEntry[],
  calls: ReadonlyMap<string, number> | undefined,
): ModelRow[] {
  const known = new Map(prices.map((price) => [price.model, price]))
  const names = new Set([...known.keys(), ...Object.keys(own.prompt), ...Object.keys(own.completion)])
  const rows = [...names].map((model): ModelRow => {
    const price = known.get(model)
    return {
      model,
      prompt: own.prompt[model],
      completion: own.completion[model],
      ...usual(price),
      source: own.prompt[model] === undefined ? sourceWithout(price) : 'option',
      channels: price?.channels ?? 0,
      calls: calls && (calls.get(model) ?? 0),
    }
  })
  return rows.sort((a, b) => (b.calls ?? 0) - (a.calls ?? 0) || a.model.localeCompare(b.model))
}

function usual(price: ModelPriceEntry | undefined): Pick<ModelRow, 'usualPrompt' | 'usualCompletion'> {
  const priced = price !== undefined && sourceWithout(price) === 'default'
  return {
    usualPrompt: priced ? price.default_ratio : undefined,
    usualCompletion: price?.default_completion_ratio || 1,
  }
}

function sourceWithout(price: ModelPriceEntry | undefined): PriceSource {
  if (!price) return 'none'
  if (price.source === 'call' || price.source === 'default') return price.source
  return price.default_ratio > 0 ? 'default' : 'none'
}

/** Effective prompt ratio; undefined = no price. */
export function promptOf(row: ModelRow): number | undefined {
  return row.prompt ?? row.usualPrompt
}

/** Effective completion ratio. */
export function completionOf(row: ModelRow): number {
  return row.completion ?? row.usualCompletion
}

/** The tokens that a model used, and their cost. */
export interface ModelUse {
  model: string
  quota: number
  prompt_tokens: number
  completion_tokens: number
}

/** How much more, in quota, the calls would have cost at other ratios; negative if they would have cost less. */
export function costDifference(
  uses: readonly ModelUse[],
  prices: readonly ModelPriceEntry[],
  before: ModelRatios,
  after: ModelRatios,
): number {
  const known = new Map(prices.map((price) => [price.model, price]))
  let difference = 0
  for (const use of uses) {
    const price = known.get(use.model)
    if (price?.source === 'call') continue
    const [old, fresh] = [before, after].map((own) => rawCost(use, own, price))
    if (old === fresh || fresh === undefined) continue
    // The actual charge reflects group ratios and cached tokens, so it is scaled by the price change. If the model had
    // no price before, the new price is used directly.
    const cost = old !== undefined && old > 0 ? (use.quota * fresh) / old : fresh
    difference += cost - use.quota
  }
  return difference
}

function rawCost(use: ModelUse, own: ModelRatios, price: ModelPriceEntry | undefined): number | undefined {
  const { usualPrompt, usualCompletion } = usual(price)
  const ratio = own.prompt[use.model] ?? usualPrompt
  if (ratio === undefined) return undefined
  const completion = own.completion[use.model] ?? usualCompletion
  return ratio * (use.prompt_tokens + completion * use.completion_tokens)
}
