import type { Log } from '../../../contract/api/log.ts'
import type { PriceList, Rates } from '../../../contract/api/price.ts'

/** What one kind of tokens cost. */
export interface CostPart {
  kind: 'input' | 'cached' | 'output' | 'reasoning' | 'other'
  /** Number of tokens; undefined for costs that are not counted in tokens. */
  tokens?: number
  /** Quota units, not rounded. */
  quota: number
}

/** The parts of a charge, and what their prices are based on. */
export interface CostSplit {
  parts: CostPart[]
  /** Cached or reasoning tokens are priced by the current price list, which may have changed since the call. */
  usesCurrentPrices: boolean
}

const ratios = /ratio: ([\d.]+) × ([\d.]+) × ([\d.]+)/
const tier = /service tier × ([\d.]+)/

/** The charge is rounded up once, so the parts may add up to slightly less. */
const rounding = 1 + 1e-6

/**
 * Splits a call's charge by kind of tokens, from the ratios that the row recorded. The ratios of cached and reasoning
 * tokens are not in the row; they come from the current price list. Undefined if the parts would exceed the charge.
 */
export function splitCost(log: Log, prices: PriceList | undefined): CostSplit | undefined {
  const match = ratios.exec(log.content)
  if (!match || log.quota === 0) return undefined
  const [model = 0, completion = 0, group = 0] = match.slice(1).map(Number)
  const input = model * group * Number(tier.exec(log.content)?.[1] ?? 1)
  const output = input * completion
  const rates = prices?.models.find((each) => each.model === log.model_name)?.prices[0]?.rates
  const part = (kind: CostPart['kind'], tokens: number, rate: number): CostPart => ({
    kind,
    tokens,
    quota: tokens * rate,
  })
  const parts = [
    part('input', log.prompt_tokens - log.cached_tokens, input),
    part('cached', log.cached_tokens, input * share(rates, 'cached_input', 'input')),
    part('output', log.completion_tokens - log.reasoning_tokens, output),
    part('reasoning', log.reasoning_tokens, output * share(rates, 'reasoning', 'output')),
  ].filter(({ tokens = 0 }) => tokens > 0)
  const rest = log.quota - parts.reduce((sum, { quota }) => sum + quota, 0)
  if (rest < -1e-6 || parts.some(({ quota }) => quota < 0)) return undefined
  return {
    parts: rest < rounding ? parts : [...parts, { kind: 'other', quota: rest }],
    usesCurrentPrices: log.cached_tokens > 0 || log.reasoning_tokens > 0,
  }
}

/** A special rate as a multiple of the plain rate; 1 if there is no special rate. */
function share(rates: Rates | undefined, special: 'cached_input' | 'reasoning', plain: 'input' | 'output'): number {
  const rate = rates?.[special]
  return rate === undefined || !rates?.[plain] ? 1 : rate / rates[plain]
}
