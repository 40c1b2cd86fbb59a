import type { JsonObject } from '../lib/json.ts'
import { rounded } from './fields.ts'
import type { Findings } from './findings.ts'
import type { SourceOptions } from './options.ts'
import { servedModels, tableOf } from './prices.ts'
import type { ChannelDraft } from './rows/channel-row.ts'

const tables = ['ModelRatio', 'CompletionRatio', 'CacheRatio', 'CreateCacheRatio'] as const
type Tables = Record<(typeof tables)[number], Record<string, number>>

/** Fields of a stored price that no price option of Tollgate can contain. */
const withoutPlace = ['tiers', 'time_windows', 'max_tokens', 'video', 'audio', 'image', 'embedding']

/** A channel that serves a model, with its own price for the model; undefined = the source's price option applies. */
interface Serving {
  type: number
  price: JsonObject | undefined
}

/**
 * Laisky's one-api stores prices with each channel, but Tollgate stores them in options. This function adds the prices
 * of the channels to `options`. If all channels that serve a model have the same price, that is the price of the model.
 * Otherwise each channel type gets its own price, which is the highest one among the channels of the type.
 */
export function applyChannelPrices(
  options: SourceOptions,
  drafts: readonly Pick<ChannelDraft, 'type' | 'fields' | 'prices'>[],
  findings: Findings,
): void {
  if (drafts.every(({ prices }) => Object.keys(prices).length === 0)) return
  const found = Object.fromEntries(tables.map((name) => [name, tableOf(options, name)])) as Tables
  for (const [model, serving] of servingOf(drafts)) {
    if (serving.every(({ price }) => price === undefined)) continue
    const types = [...new Set(serving.map(({ type }) => type))]
    if (isShared(serving)) {
      setPrice(found, model, serving[0]?.price ?? {}, findings)
      continue
    }
    findings.add(
      'prices',
      'Channels have different prices for the model. Here the price depends on the type of the channel.',
      model,
    )
    for (const type of types) {
      const same = serving.filter((each) => each.type === type)
      const price = highest(same)
      if (!price) continue
      const name = `${model}(${type})`
      if (!isShared(same))
        findings.add(
          'prices',
          'Channels of one type have different prices for the model. The highest one applies.',
          name,
        )
      setPrice(found, name, price, findings)
    }
  }
  for (const name of tables) if (Object.keys(found[name]).length > 0) options.set(name, JSON.stringify(found[name]))
}

function servingOf(drafts: readonly Pick<ChannelDraft, 'type' | 'fields' | 'prices'>[]): Map<string, Serving[]> {
  const serving = new Map<string, Serving[]>()
  for (const draft of drafts)
    for (const { sent, type } of servedModels([draft])) {
      const price = draft.prices[sent]
      serving.set(sent, [...(serving.get(sent) ?? []), { type, price: isPrice(price) ? price : undefined }])
    }
  return serving
}

/** A ratio of 0 means that the channel has no price of its own. */
const isPrice = (price: JsonObject | undefined): price is JsonObject => numberOf(price, 'ratio') > 0

const isShared = (serving: readonly Serving[]) =>
  serving.every(({ price }) => JSON.stringify(price) === JSON.stringify(serving[0]?.price))

function highest(serving: readonly Serving[]): JsonObject | undefined {
  const total = (price: JsonObject) => numberOf(price, 'ratio') * (1 + (numberOf(price, 'completion_ratio') || 1))
  return serving
    .flatMap(({ price }) => (price ? [price] : []))
    .toSorted((one, other) => total(other) - total(one))
    .at(0)
}

function setPrice(found: Tables, name: string, price: JsonObject, findings: Findings): void {
  const input = numberOf(price, 'ratio')
  found.ModelRatio[name] = rounded(input)
  const completion = numberOf(price, 'completion_ratio')
  if (completion > 0) found.CompletionRatio[name] = rounded(completion)
  // In the source, the prices of cached tokens are absolute. In Tollgate, they are relative to the price of input. A
  // negative price in the source means that cached tokens are free.
  for (const [table, field] of [
    ['CacheRatio', 'cached_input_ratio'],
    ['CreateCacheRatio', 'cache_write_5m_ratio'],
  ] as const) {
    const cached = numberOf(price, field)
    if (cached !== 0) found[table][name] = rounded(Math.max(0, cached) / input)
  }
  const rest = withoutPlace.filter((part) => Boolean(price[part]))
  if (rest.length > 0)
    findings.leave(
      {
        kind: 'price',
        id: name,
        reason: rest.join(', '),
        data: Object.fromEntries(rest.map((part) => [part, price[part]])),
      },
      `The price has parts without a counterpart: ${rest.join(', ')}.`,
    )
}

function numberOf(price: JsonObject | undefined, field: string): number {
  const value = Number(price?.[field] ?? 0)
  return Number.isFinite(value) ? value : 0
}
