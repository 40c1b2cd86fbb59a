import type { VirtualPrice, VirtualStep } from '../../../contract/api/virtual-model.ts'
import { circleOfSteps } from '../../../contract/circle-of-steps.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { scaleDecimal } from '../../lib/decimal.ts'
import { type VirtualModelRow, virtualParts, virtualTexts } from '../../store/channels/virtual-models.ts'

/** Refuses two steps with the same model and group. Throws ApiFailure. */
export function checkSteps(steps: readonly VirtualStep[]): void {
  const seen = new Set<string>()
  for (const { model, group } of steps) {
    const key = JSON.stringify([model, group])
    if (seen.has(key)) throw new ApiFailure(`The step ${model} is listed twice.`)
    seen.add(key)
  }
}

/** Refuses a price that is incomplete, or that cannot be stored exactly. Throws ApiFailure. */
export function checkPrice(price: VirtualPrice | null): void {
  if (price === null) return
  const { input, output, request } = price
  const isByTokens = input !== undefined && output !== undefined
  if (!isByTokens && (input !== undefined || output !== undefined || request === undefined))
    throw new ApiFailure('Enter a price for input and output, or a price per request.')
  for (const value of Object.values(price))
    if (scaleDecimal(String(value), 6)?.rounded !== false)
      throw new ApiFailure('A price may have at most six decimals.')
}

/** Refuses a name that is invalid, or that another virtual model already has. Throws ApiFailure. */
export function checkName(name: string, others: readonly VirtualModelRow[]): void {
  // Commas separate the names in lists of models, and the name is sent in a header.
  if (/[,\p{Cc}\p{Zl}\p{Zp}]/u.test(name))
    throw new ApiFailure('The name must not contain commas or control characters.')
  if (others.some((each) => each.name === name))
    throw new ApiFailure(`There is already a virtual model with the name ${name}.`)
}

/**
 * Refuses a virtual model whose steps lead back to the model itself. Cycles that do not include this model are not
 * checked, because they were refused when the last of their models was saved.
 */
export function refuseCircle(
  models: readonly { name: string; steps: readonly { model: string }[] }[],
  name: string,
): void {
  const circle = circleOfSteps(models, name)
  if (circle) throw new ApiFailure(`The steps lead in a circle: ${circle.join(' → ')}.`)
}

/** The name and steps of a virtual model, as `refuseCircle` needs them. */
export function steppingOf(row: VirtualModelRow) {
  return { name: row.name, steps: virtualParts(row).steps }
}

/** The columns of a virtual model that are stored as text. Fields that are missing in `body` are empty. */
export function allTexts(body: Parameters<typeof virtualTexts>[0]) {
  return { steps: '', failures: '', price: '', groups: '', ...virtualTexts(body) }
}
