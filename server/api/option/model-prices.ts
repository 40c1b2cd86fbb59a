import type { ModelPriceEntry } from '../../../contract/api/option.ts'
import type { PriceSheet } from '../../billing/price.ts'
import { createPriceBook, type PriceOptions } from '../../billing/price-book.ts'
import type { ServedModel } from '../../store/channels/served-models.ts'

/**
 * The price of each model under these options. Models that are served come first, followed by models that only
 * ModelRatio contains.
 */
export function modelPrices(options: PriceOptions, served: readonly ServedModel[]): ModelPriceEntry[] {
  const book = createPriceBook(options)
  const builtIn = createPriceBook({})
  const known = new Set(served.map(({ model }) => model))
  const named = [...book.tables.ModelRatio.keys()].filter((name) => !known.has(name))
  return [...served, ...named.map((model) => ({ model, channelType: 0, channels: 0 }))].map(
    ({ model, channelType, channels }) => {
      const usual = builtIn.sheet(model, channelType)
      return {
        model,
        channels,
        ...shown(book.sheet(model, channelType)),
        default_ratio: Number(usual?.modelRatio ?? 0),
        default_completion_ratio: Number(usual?.completionRatio ?? 0),
      }
    },
  )
}

function shown(sheet: PriceSheet | undefined): Pick<ModelPriceEntry, 'ratio' | 'completion_ratio' | 'source'> {
  if (!sheet) return { ratio: 0, completion_ratio: 0, source: 'none' }
  const perCall = sheet.perCall > 0n && sheet.prices.input === 0n
  return {
    ratio: Number(sheet.modelRatio),
    completion_ratio: Number(sheet.completionRatio),
    source: perCall ? 'call' : sheet.source,
  }
}
