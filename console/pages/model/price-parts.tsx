import type { Price, PricedModel, SpecialRate } from '../../../contract/api/price.ts'
import { modeOfModel } from '../../../contract/model-kinds.ts'
import { formatCount, quotaPerUnit, showsCurrency } from '../../lib/format.ts'
import type { Text } from '../../lib/text.ts'

/** Kinds of models, in the order in which they are offered. */
export const kinds = [
  'chat',
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
  const mode = modeOfModel(model)
  return kinds.find((kind) => kind === mode) ?? 'chat'
}

/** A kind in words. */
export function kindText(kind: Kind, t: Text): string {
  return t(`model.kind.${kind}`)
}

const leastDecimals = 2
const mostDecimals = 6

/** A price as the server wants quota shown: all its decimals, as prices are compared; at least cents. */
export function priceText(quota: number): string {
  if (!showsCurrency()) return formatCount(Math.round(quota * 1e6) / 1e6)
  const digits = (quota / quotaPerUnit()).toFixed(mostDecimals)
  return `$${digits.replace(new RegExp(`0{1,${mostDecimals - leastDecimals}}$`), '')}`
}

/** Quota as the number that is exported and sorted by: dollars, or as it is. */
export function priceNumber(quota: number): number {
  return showsCurrency() ? quota / quotaPerUnit() : quota
}

/** False for what costs so much for an image, an hour, a million characters or a call, and nothing else. */
export function isByToken({ unit, rates, call }: Price): boolean {
  return unit === 'tokens' && (call === 0 || rates.input > 0 || rates.output > 0)
}

/** A price that is not by the token, with what it is for: `$0.016 / image`. */
export function unitPriceText({ unit, rates, call }: Price, t: Text): string {
  const of = unit === 'tokens' ? 'call' : unit
  return t(`model.per.${of}`, { price: priceText(of === 'call' ? call : rates.input) })
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
