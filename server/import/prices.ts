import type { PriceRow } from '../../contract/api/import.ts'
import { createPriceBook, type PriceBook } from '../billing/price-book.ts'
import { isObject, tryParse } from '../lib/json.ts'
import { rounded } from './fields.ts'
import type { Findings } from './findings.ts'
import type { ReadOptions, SourceOptions } from './options.ts'
import type { Program } from './program.ts'
import type { ChannelDraft } from './rows/channel-row.ts'

/** A model that a channel serves: the name that callers use, and the name that is sent upstream. */
export interface ServedModel {
  asked: string
  sent: string
  type: number
}

/** The ratio that a program charges for a model without a price; undefined = it refuses such calls. */
const unpriced: Readonly<Record<Program['name'], number | undefined>> = {
  'one-api': 30,
  laisky: 1.25,
  'one-hub': 30,
  'new-api': undefined,
  litellm: undefined,
}
const selfUseRatio = 37.5

/** The models that the channels serve. */
export function servedModels(channels: Iterable<Pick<ChannelDraft, 'type' | 'fields'>>): ServedModel[] {
  const served = new Map<string, ServedModel>()
  for (const { type, fields } of channels) {
    const parsed = tryParse(fields.model_mapping ?? '{}')
    const mapping = isObject(parsed) ? parsed : {}
    for (const asked of (fields.models ?? '').split(',')) {
      const target = mapping[asked]
      const sent = typeof target === 'string' && target !== '' ? target : asked
      if (asked !== '') served.set(`${asked}\n${sent}\n${type}`, { asked, sent, type })
    }
  }
  return [...served.values()]
}

/** Parses the JSON table in an option; an empty table if the option is missing or invalid. */
export function tableOf(
  options: SourceOptions,
  key: 'ModelRatio' | 'CompletionRatio' | 'ModelPrice' | 'CacheRatio' | 'CreateCacheRatio',
): Record<string, number> {
  const parsed = tryParse(options.get(key) ?? '{}')
  return isObject(parsed) ? (parsed as Record<string, number>) : {}
}

/**
 * Adds prices to `options` for models that Tollgate would otherwise refuse, or charge differently from the source.
 * These are models without a price, and models that the source charges under the requested name while Tollgate uses the
 * name that is sent upstream. Reports each addition.
 */
export function completePrices(
  { options, stored }: ReadOptions,
  program: Program,
  served: readonly ServedModel[],
  findings: Findings,
): void {
  const ratios = tableOf(options, 'ModelRatio')
  const completions = tableOf(options, 'CompletionRatio')
  const calls = tableOf(options, 'ModelPrice')
  const book = bookOf(options)
  const fallback =
    program.name === 'new-api' && stored.get('SelfUseModeEnabled') === 'true' ? selfUseRatio : unpriced[program.name]
  const isExact = program.tableIsComplete && (program.name === 'one-hub' || stored.has('ModelRatio'))
  for (const { asked, sent, type } of served) {
    if (sent in ratios || sent in calls || `${sent}(${type})` in ratios) continue
    const isPriced = book.sheet(sent, type) !== undefined
    if (program.name === 'new-api' && asked !== sent && (asked in ratios || asked in calls)) {
      if (isPriced) continue
      const name = `${sent}(${type})`
      if (asked in calls) calls[name] = calls[asked] ?? 0
      else ratios[name] = ratios[asked] ?? 0
      const completion = completions[asked]
      if (completion !== undefined) completions[name] = completion
      findings.add(
        'prices',
        'new-api charges by the requested name, Tollgate by the name that is sent upstream. The name that is sent upstream gets the price of the requested name.',
        `${asked} → ${sent}`,
      )
      continue
    }
    const known = program.name === 'litellm' && !isPriced && asked !== sent ? book.sheet(asked, type) : undefined
    if (known !== undefined && known.perCall === 0n && known.prices.input > 0n) {
      ratios[sent] = rounded(Number(known.prices.input) / picoquota)
      completions[sent] = rounded(Number(known.prices.output) / Number(known.prices.input))
      findings.add(
        'prices',
        'The model has no price under the name that is sent upstream. It gets the price of its requested name.',
        `${asked} → ${sent}`,
      )
      continue
    }
    if (fallback === undefined || (isPriced && !(isExact && program.name !== 'new-api'))) continue
    ratios[sent] = fallback
    if (program.name === 'one-hub' || program.name === 'laisky' || !/^(?:gpt-|claude-|chatgpt|o1|o3)/.test(sent))
      completions[sent] = 1
    findings.add(
      'prices',
      `The model has no price there and is charged at ratio ${fallback}. It gets the same ratio here.`,
      sent,
    )
  }
  for (const [key, table] of [
    ['ModelRatio', ratios],
    ['CompletionRatio', completions],
    ['ModelPrice', calls],
  ] as const)
    if (Object.keys(table).length > 0) options.set(key, JSON.stringify(table))
}

/**
 * Adds a ratio of 1 for each group that is in use but has none, because in Tollgate a group exists only if it has a
 * ratio.
 */
export function completeGroups(options: SourceOptions, groups: Iterable<string>, findings: Findings): void {
  const parsed = tryParse(options.get('GroupRatio') ?? '{"default":1,"vip":1,"svip":1}')
  const ratios: Record<string, unknown> = isObject(parsed) ? parsed : {}
  let isChanged = false
  for (const group of groups) {
    if (group === '' || Object.hasOwn(ratios, group)) continue
    ratios[group] = 1
    isChanged = true
    findings.add('options', 'The group is used but has no ratio. It gets 1, which is what was charged.', group)
  }
  if (isChanged) options.set('GroupRatio', JSON.stringify(ratios))
}

function bookOf(options: SourceOptions): PriceBook {
  return createPriceBook(Object.fromEntries(options))
}

const picoquota = 1e12
const perMillion = 500_000_000_000

/** The price of each model in the source and in this installation. */
export function priceTable(
  { options, stored }: ReadOptions,
  program: Program,
  before: SourceOptions,
  served: readonly ServedModel[],
): PriceRow[] {
  const book = bookOf(options)
  const ratios = tableOf(before, 'ModelRatio')
  const completions = tableOf(before, 'CompletionRatio')
  const calls = tableOf(before, 'ModelPrice')
  const quotaPerUnit = Number(options.get('QuotaPerUnit') ?? 500_000)
  const rows = new Map<string, PriceRow>()
  for (const { asked, sent, type } of served) {
    const charged = program.name === 'new-api' ? asked : sent
    const sheet = book.sheet(sent, type)
    const ours =
      sheet === undefined
        ? 'refused'
        : sheet.perCall > 0n
          ? perCall(Number(sheet.perCall) / picoquota / quotaPerUnit)
          : tokens(Number(sheet.prices.input) / perMillion, Number(sheet.prices.output) / perMillion)
    const typed = `${charged}(${type})`
    const ratio = ratios[typed] ?? ratios[charged]
    const call = calls[typed] ?? calls[charged]
    const completion = completions[typed] ?? completions[charged]
    const known = ratio !== undefined || call !== undefined
    const isBuiltIn = !known && !(program.tableIsComplete && (program.name === 'one-hub' || stored.has('ModelRatio')))
    const fallback = unpriced[program.name]
    const theirs =
      call !== undefined
        ? perCall(call)
        : ratio !== undefined
          ? tokens(ratio * 2, completion === undefined ? undefined : ratio * 2 * completion)
          : isBuiltIn
            ? 'its built-in price'
            : fallback === undefined
              ? 'refused'
              : tokens(fallback * 2, fallback * 2)
    const [oursInput, oursOutput] = ours.split(' / ')
    const [theirInput, theirOutput] = theirs.split(' / ')
    const differs = isBuiltIn
      ? undefined
      : theirInput !== oursInput || (theirOutput !== undefined && theirOutput !== '?' && theirOutput !== oursOutput)
    rows.set(`${asked}\n${ours}`, { model: asked === sent ? asked : `${asked} → ${sent}`, theirs, ours, differs })
  }
  return [...rows.values()].sort((a, b) => a.model.localeCompare(b.model))
}

const money = (value: number) => `$${rounded(value)}`
const tokens = (input: number, output: number | undefined) =>
  `${money(input)} / ${output === undefined ? '?' : money(output)}`
const perCall = (price: number) => `${money(price)} a call`
