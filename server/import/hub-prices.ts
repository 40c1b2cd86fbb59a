import type { OptionKey } from '../../contract/options.ts'
import { object, rounded, text, trimmed, truth } from './fields.ts'
import type { Findings } from './findings.ts'
import { allRows, type SourceDatabase, type SourceRow } from './sources/source-database.ts'

/** The number of quota units that one-hub charges for a call whose model has the price 1 per call. */
const unitsPerCall = 1000

const amountOf = (row: SourceRow, name: string) => Math.max(0, Number(row[name] ?? 0) || 0)

/** Converts one-hub's tables of prices and groups to Tollgate's options. */
export async function hubTables(
  source: SourceDatabase,
  quotaPerUnit: number,
  findings: Findings,
): Promise<[OptionKey, string][]> {
  return [...(await prices(source, quotaPerUnit, findings)), ...(await groups(source, findings))]
}

async function prices(
  source: SourceDatabase,
  quotaPerUnit: number,
  findings: Findings,
): Promise<[OptionKey, string][]> {
  if (!source.tables.has('prices')) return []
  const tables: Record<string, Record<string, number>> = {
    ModelRatio: {},
    CompletionRatio: {},
    ModelPrice: {},
    CacheRatio: {},
    CreateCacheRatio: {},
    AudioRatio: {},
    AudioCompletionRatio: {},
  }
  const set = (table: string, model: string, value: number) => {
    const entries = tables[table]
    if (entries) entries[model] = rounded(value)
  }
  for (const row of await allRows(source, 'prices')) {
    const model = trimmed(row, 'model')
    if (model === '') continue
    const input = amountOf(row, 'input')
    const output = amountOf(row, 'output')
    if (text(row, 'type') === 'times') {
      set('ModelPrice', model, (input * unitsPerCall) / quotaPerUnit)
      continue
    }
    set('ModelRatio', model, input)
    if (input > 0) set('CompletionRatio', model, output / input)
    else if (output > 0)
      findings.add(
        'prices',
        'Only the completion has a price. Here it is free, because prices are relative to the prompt: set a price.',
        model,
      )
    extras(row, model, { input, output }, set, findings)
  }
  return Object.entries(tables)
    .filter(([, entries]) => Object.keys(entries).length > 0)
    .map(([key, entries]) => [key as OptionKey, JSON.stringify(entries)])
}

/**
 * The names under which different versions of one-hub store the price of a kind of tokens. These prices are relative to
 * the price of text.
 */
const kinds: Readonly<Record<string, 'cached' | 'written' | 'audioIn' | 'audioOut'>> = {
  cached_tokens: 'cached',
  cached_tokens_ratio: 'cached',
  cached_read_tokens: 'cached',
  cached_write_tokens: 'written',
  input_audio_tokens: 'audioIn',
  input_audio_tokens_ratio: 'audioIn',
  output_audio_tokens: 'audioOut',
  output_audio_tokens_ratio: 'audioOut',
}

function extras(
  row: SourceRow,
  model: string,
  { input, output }: { input: number; output: number },
  set: (table: string, model: string, value: number) => void,
  findings: Findings,
): void {
  const found: Partial<Record<'cached' | 'written' | 'audioIn' | 'audioOut', number>> = {}
  for (const [name, value] of Object.entries(object(row, 'extra_ratios') ?? {})) {
    const kind = kinds[name]
    if (kind !== undefined && typeof value === 'number' && value >= 0) found[kind] = value
    else
      findings.leave(
        { kind: 'price', id: model, reason: name, data: { model, [name]: value } },
        `The extra ratio ${name} has no counterpart.`,
      )
  }
  if (found.cached !== undefined) set('CacheRatio', model, found.cached)
  if (found.written !== undefined) set('CreateCacheRatio', model, found.written)
  if (found.audioIn !== undefined) set('AudioRatio', model, found.audioIn)
  const audioInput = input * (found.audioIn ?? 1)
  if (found.audioOut !== undefined && audioInput > 0)
    set('AudioCompletionRatio', model, (output * found.audioOut) / audioInput)
}

async function groups(source: SourceDatabase, findings: Findings): Promise<[OptionKey, string][]> {
  const ratios: Record<string, number> = {}
  const limits: Record<string, { rpm_limit: number }> = {}
  for (const row of await allRows(source, 'user_groups')) {
    const name = trimmed(row, 'symbol')
    if (name === '') continue
    ratios[name] = rounded(amountOf(row, 'ratio'))
    const rate = Math.trunc(amountOf(row, 'api_rate'))
    if (rate > 0) limits[name] = { rpm_limit: rate }
    if (row['enable'] !== undefined && !truth(row, 'enable'))
      findings.add('options', 'The group is disabled in the source. Here it can be used.', name)
    if (truth(row, 'promotion'))
      findings.add(
        'options',
        'In the source, users get into this group by topping up. Here, an admin assigns the group.',
        name,
      )
  }
  return [
    ['GroupRatio', JSON.stringify(ratios)],
    ['GroupLimits', JSON.stringify(limits)],
  ]
}
