import type { VirtualPrice, VirtualStep } from '../../../contract/api/virtual-model.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { scaleDecimal } from '../../lib/decimal.ts'

/** Refuses steps that could never be told apart. Throws ApiFailure. */
export function checkSteps(steps: readonly VirtualStep[]): void {
  const seen = new Set<string>()
  for (const { model, group } of steps) {
    const key = JSON.stringify([model, group])
    if (seen.has(key)) throw new ApiFailure(`The step ${model} is listed twice.`)
    seen.add(key)
  }
}

/** Refuses a price that leaves open what a request costs, or that cannot be stored exactly. Throws ApiFailure. */
export function checkPrice(price: VirtualPrice | null): void {
  if (price === null) return
  const { input, output, request } = price
  const isByTokens = input !== undefined && output !== undefined
  if (!isByTokens && (input !== undefined || output !== undefined || request === undefined))
    throw new ApiFailure('A fixed price needs a price of input and output, or a price of a request.')
  for (const value of Object.values(price))
    if (scaleDecimal(String(value), 6)?.rounded !== false)
      throw new ApiFailure('A price may have at most six decimals.')
}
