import type { Price, PricedModel, SpecialRate } from '../../../contract/api/price.ts'
import { modeOfModel } from '../../../contract/model-kinds.ts'
import { quotaPerUnit, showsCurrency } from '../../lib/format.ts'
import { languageTag, type Text } from '../../lib/text.ts'

/** Kinds of models, in the order in which they are offered. */
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

/** What a model is for, going by what it is charged for and by its name. */
export function kindOf({ model, prices }: PricedModel): Kind {
  const unit = prices[0]?.unit ?? 'tokens'
  if (unit !== 'tokens') return kindByUnit[unit]
  if (/realtime/i.test(model)) return 'realtime'
  const mode = modeOfModel(model)
  return kinds.find((kind) => kind === mode) ?? 'chat'
}

/** A kind in words. */
export function kindText(kind: Kind, t: Text): string {
  return t(`model.kind.${kind}`)
}

/** Whether the playground can call it. */
export function canTry(row: PricedModel): boolean {
  return kindOf(row) === 'chat' && row.prices.length > 0
}

const noOutput: readonly Kind[] = ['embeddings', 'rerank', 'moderations']

/** Whether answers have tokens that may cost something. */
export function hasOutput(row: PricedModel): boolean {
  return !noOutput.includes(kindOf(row))
}

const smallest = 1e-6

/** A price as the server wants quota shown: with all its decimals, as prices are compared, at least cents. */
export function priceText(quota: number): string {
  const currency = showsCurrency()
  const amount = currency ? quota / quotaPerUnit() : quota
  // What is hardly anything must not look like nothing.
  const digits = amount > 0 && amount < smallest ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 6 }
  if (!currency) return new Intl.NumberFormat(languageTag(), digits).format(amount)
  const format = { ...digits, ...(amount >= smallest || amount === 0 ? { minimumFractionDigits: 2 } : {}) }
  return `$${new Intl.NumberFormat('en-US', { useGrouping: false, ...format }).format(amount)}`
}

/** Quota as the number that is exported and sorted by: dollars, or as it is. */
export function priceNumber(quota: number): number {
  return showsCurrency() ? quota / quotaPerUnit() : quota
}

/** Whether nothing is charged but so much for each call. */
const isPerCall = ({ rates, call }: Price) => call > 0 && rates.input === 0 && rates.output === 0

/** False for what costs so much for an image, an hour, a million characters or a call, and nothing else. */
export function isByToken(price: Price): boolean {
  return price.unit === 'tokens' && !isPerCall(price)
}

/** A price that is not by the token, with what it is for: `$0.016 / image`. */
export function unitPriceText(price: Price, t: Text): string {
  const { unit, rates, call } = price
  if (unit === 'tokens' || isPerCall(price)) return t('model.per.call', { price: priceText(call) })
  return t(`model.per.${unit}`, { price: priceText(rates.input) })
}

/** The rates of a side that are not those of its plain tokens, in the order of the drawer. */
export const inputRates: readonly SpecialRate[] = [
  'cached_input',
  'cache_write',
  'cache_write_1h',
  'image_input',
  'audio_input',
  'cached_audio_input',
]
export const outputRates: readonly SpecialRate[] = ['reasoning', 'image_output', 'audio_output']
