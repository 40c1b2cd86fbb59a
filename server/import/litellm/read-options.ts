import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import { rounded, text } from '../fields.ts'
import type { LocalRow } from '../sources/local-sqlite.ts'
import type { ReadModel } from './read-models.ts'
import type { Reading } from './reading.ts'

/** The prices of deployments as ratio tables, and the settings for which there is an option. */
export async function readOptionRows(reading: Reading, models: readonly ReadModel[]): Promise<LocalRow[]> {
  const tables = priceTables(reading, models)
  const rows = Object.entries(tables)
    .filter(([, table]) => Object.keys(table).length > 0)
    .map(([key, table]) => ({ key, value: JSON.stringify(table) }))
  const retries = await settings(reading)
  return retries === undefined ? rows : [...rows, { key: 'RetryTimes', value: String(retries) }]
}

type Tables = Record<'ModelRatio' | 'CompletionRatio' | 'CacheRatio' | 'CreateCacheRatio', Record<string, number>>

function priceTables({ later, quotaPerUnit }: Reading, models: readonly ReadModel[]): Tables {
  const tables: Tables = { ModelRatio: {}, CompletionRatio: {}, CacheRatio: {}, CreateCacheRatio: {} }
  const set = (name: string, costs: JsonObject) => {
    const input = Number(costs['input_cost_per_token'])
    const output = Number(costs['output_cost_per_token'] ?? 0)
    tables.ModelRatio[name] = rounded(input * quotaPerUnit)
    tables.CompletionRatio[name] = input > 0 ? rounded(output / input) : 1
    if (input === 0 && output > 0)
      later.add(
        'prices',
        'Only the completion has a price. Here it is free, because prices are relative to the prompt: set a price.',
        name,
      )
    for (const [table, field] of [
      ['CacheRatio', 'cache_read_input_token_cost'],
      ['CreateCacheRatio', 'cache_creation_input_token_cost'],
    ] as const)
      if (input > 0 && typeof costs[field] === 'number') tables[table][name] = rounded(costs[field] / input)
  }
  for (const { sent, costs, asked, channel } of models) {
    if (!isPriced(costs)) continue
    const before = tables.ModelRatio[sent]
    const typed = `${sent}(${channel['type']})`
    if (before === undefined) set(sent, costs)
    else if (before !== rounded(Number(costs['input_cost_per_token']) * quotaPerUnit)) {
      later.add(
        'prices',
        'Deployments of the same model have different prices. Here the price depends on the type of the channel.',
        `${asked} → ${typed}`,
      )
      set(typed, costs)
    }
  }
  // A deployment without its own price, such as one on Azure, gets the price of another deployment of the same model.
  for (const { sent, asked, costs } of models) {
    if (isPriced(costs) || tables.ModelRatio[sent] !== undefined) continue
    const sibling = models.find((other) => other.asked === asked && isPriced(other.costs))
    if (!sibling) continue
    set(sent, sibling.costs)
    later.add(
      'prices',
      'The deployment has no price. It gets that of another deployment of the same model.',
      `${asked} → ${sent}`,
    )
  }
  return tables
}

const isPriced = (costs: JsonObject) =>
  typeof costs['input_cost_per_token'] === 'number' && costs['input_cost_per_token'] >= 0

/**
 * Returns the number of retries that LiteLLM is configured with; undefined if that is not set. All other settings
 * become leftovers.
 */
async function settings({ rows, config, later }: Reading): Promise<number | undefined> {
  const stored = (await rows('LiteLLM_Config', [])).map((row) => {
    const value = row['param_value']
    return [text(row, 'param_name'), typeof value === 'string' ? tryParse(value) : value] as const
  })
  const written = Object.entries(config).filter(([name]) => name !== 'model_list')
  let retries: number | undefined
  for (const [section, value] of [...stored, ...written]) {
    if (!isObject(value)) continue
    for (const [name, each] of Object.entries(value)) {
      if (name === 'num_retries' && typeof each === 'number') retries ??= Math.min(10, Math.max(0, Math.trunc(each)))
      else if (name === 'master_key')
        later.add(
          'options',
          'The master key is not imported as a token. Use the super admin of this installation instead.',
          section,
        )
      else if (name !== 'database_url')
        later.leave(
          { kind: 'option', id: `${section}.${name}`, reason: 'no counterpart', data: { [name]: each } },
          sentences[name] ?? 'The setting of LiteLLM has no counterpart.',
        )
    }
  }
  return retries
}

const sentences: Readonly<Record<string, string>> = {
  fallbacks: 'In the source, a failed request continues with another model. Create a virtual model for this.',
  model_group_alias:
    'The model has an alias in the source. Create a virtual model for it, or add it to the model mapping of a channel.',
}
