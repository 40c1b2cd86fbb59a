import type { Price, PricedModel, SpecialRate } from '../../../contract/api/price.ts'
import { modeOfModel } from '../../../contract/model-kinds.ts'
import { quotaPerUnit, showsCurrency } from '../../lib/format.ts'
import { priceText } from '../../lib/price-text.ts'
import type { Text } from '../../lib/text.ts'

/** Kinds of models, in display order. */
export const kinds = [
  'chat',
  'realtime',
  'completions',
  'embeddings',
  'rerank',
  'images',
  'speech',
  'transcriptions',
  'moderations',
] as const

export type Kind = (typeof kinds)[number]

const kindByUnit = { image: 'images', characters: 'speech', hour: 'transcriptions' } as const

/** The purpose of a model, derived from the unit of its prices and from its name. */
export function kindOf({ model, prices }: PricedModel): Kind {
  const unit = prices[0]?.unit ?? 'tokens'
  if (unit !== 'tokens') return kindByUnit[unit]
  if (/realtime/i.test(model)) return 'realtime'
  const mode = modeOfModel(model)
  return kinds.find((kind) => kind === mode) ?? 'chat'
}

/** The label of a kind. */
export function kindText(kind: Kind, t: Text): string {
  return t(`model.kind.${kind}`)
}

/** Whether the playground can call the model. */
export function canTry(row: PricedModel): boolean {
  return kindOf(row) === 'chat' && row.prices.length > 0
}

const noOutput: readonly Kind[] = ['embeddings', 'rerank', 'moderations']

/** Whether responses have tokens that can be charged. */
export function hasOutput(row: PricedModel): boolean {
  return !noOutput.includes(kindOf(row))
}

/** Quota as a number for export and sorting: in dollars, or in quota units. */
export function priceNumber(quota: number): number {
  return showsCurrency() ? quota / quotaPerUnit() : quota
}

/** Whether only a fixed price per call is charged. */
const isPerCall = ({ rates, call }: Price) => call > 0 && rates.input === 0 && rates.output === 0

/** True if tokens have a price; false if the only price is per image, hour, million characters or call. */
export function isByToken(price: Price): boolean {
  return price.unit === 'tokens' && !isPerCall(price)
}

/** A price that is not per token, with its unit: `$0.016 / image`. */
export function unitPriceText(price: Price, t: Text): string {
  const { unit, rates, call } = price
  if (unit === 'tokens' || isPerCall(price)) return t('model.per.call', { price: priceText(call) })
  return t(`model.per.${unit}`, { price: priceText(rates.input) })
}

/** The rates for input or output tokens that can differ from the rate of plain tokens, in the order of the drawer. */
export const inputRates: readonly SpecialRate[] = [
  'cached_input',
  'cache_write',
  'cache_write_1h',
  'image_input',
  'audio_input',
  'cached_audio_input',
]
export const outputRates: readonly SpecialRate[] = ['reasoning', 'image_output', 'audio_output']
