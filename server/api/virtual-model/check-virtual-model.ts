import type { VirtualPrice, VirtualStep } from '../../../contract/api/virtual-model.ts'
import { circleOfSteps } from '../../../contract/circle-of-steps.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { scaleDecimal } from '../../lib/decimal.ts'
import { type VirtualModelRow, virtualParts, virtualTexts } from '../../store/channels/virtual-models.ts'

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

/** Refuses a name that cannot be used, or that another virtual model has. Throws ApiFailure. */
export function checkName(name: string, others: readonly VirtualModelRow[]): void {
  // Lists of models are separated by commas, and the name is sent in a header.
  if (/[,\p{Cc}\p{Zl}\p{Zp}]/u.test(name))
    throw new ApiFailure('The name must not contain commas or control characters.')
  if (others.some((each) => each.name === name))
    throw new ApiFailure(`There is already a virtual model with the name ${name}.`)
}

/** Refuses a model from which its steps lead back to itself. Every other circle was refused when it would have formed. */
export function refuseCircle(
  models: readonly { name: string; steps: readonly { model: string }[] }[],
  name: string,
): void {
  const circle = circleOfSteps(models, name)
  if (circle) throw new ApiFailure(`The steps lead in a circle: ${circle.join(' → ')}.`)
}

/** A virtual model as `refuseCircle` looks at it. */
export function steppingOf(row: VirtualModelRow) {
  return { name: row.name, steps: virtualParts(row).steps }
}

/** The columns of a virtual model that are stored as text. */
export function allTexts(body: Parameters<typeof virtualTexts>[0]) {
  return { steps: '', failures: '', price: '', groups: '', ...virtualTexts(body) }
}
