/**
 * Writes server/billing/default-prices.gen.ts from the price data that ships inside @pydantic/genai-prices. After
 * updating that package, add its publication date below and run `bun tools/make-default-prices.ts`. The grammar of the
 * written lines is described in server/billing/price-lines.ts.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import {
  type ConditionalPrice,
  findProvider,
  type MatchLogic,
  type ModelInfo,
  type ModelPrice,
} from '@pydantic/genai-prices'

const packageName = '@pydantic/genai-prices'
const publicationDates: Record<string, string> = { '0.1.8': '2026-09-23' }
const outputFile = new URL('../server/billing/default-prices.gen.ts', import.meta.url)

/**
 * Providers, in the order in which a model name without a provider is assigned to them: first vendors of models, then
 * resellers. The number is the channel type for which a reseller's own price is used; vendors have 0.
 */
const providers: readonly (readonly [id: string, channelType: number])[] = [
  ['openai', 0],
  ['anthropic', 0],
  ['google', 0],
  ['deepseek', 0],
  ['x-ai', 0],
  ['mistral', 0],
  ['cohere', 0],
  ['perplexity', 0],
  ['moonshotai', 0],
  ['minimax', 0],
  ['zhipuai', 0],
  ['zai', 0],
  ['voyageai', 0],
  ['openrouter', 20],
  ['aws', 33],
  ['groq', 29],
  ['together', 39],
  ['cerebras', 56],
  ['fireworks', 54],
  ['novita', 41],
  ['cloudflare', 37],
  ['azure', 3],
]
const vertexChannelType = 42

/**
 * The unit in the price data → the field of a price line. The gateway does not charge for units that are not listed
 * (web searches, pages).
 */
const fields: readonly (readonly [unit: string, field: string])[] = [
  ['input_mtok', 'in'],
  ['output_mtok', 'out'],
  ['cache_read_mtok', 'read'],
  ['cache_write_mtok', 'write'],
  ['cache_write_1h_mtok', 'write1h'],
  ['input_audio_mtok', 'audio'],
  ['cache_audio_read_mtok', 'audioRead'],
  ['input_image_mtok', 'image'],
  ['output_reasoning_mtok', 'think'],
  ['output_audio_mtok', 'audioOut'],
  ['output_image_mtok', 'imageOut'],
]

/**
 * The names that a match rule covers. Patterns and exclusions do not add names, because the lookup itself strips dates
 * and similar suffixes.
 */
function namesOf(match: MatchLogic): string[] {
  if ('or' in match) return match.or.flatMap(namesOf)
  if ('and' in match) return match.and.flatMap(namesOf)
  if ('equals' in match) return nameList(match.equals)
  if ('ends_with' in match) return nameList(match.ends_with)
  if ('starts_with' in match) return nameList(withoutTail(match.starts_with))
  return 'contains' in match ? nameList(withoutTail(match.contains)) : []
}

/** The start of a name without a partial date: "claude-sonnet-4-2025" → "claude-sonnet-4". */
function withoutTail(text: string): string {
  return text.replace(/-20\d\d-?$/, '').replace(/[-@.]+$/, '')
}

function nameList(text: string): string[] {
  const name = text.toLowerCase()
  return name === '' || /[\s|;]/.test(name) ? [] : [name]
}

/** A JSON number as decimal text: no exponent, at most twelve decimal places. */
function decimal(value: number): string {
  const text = String(value)
  return /e|\.\d{13}/.test(text) ? value.toFixed(12).replace(/\.?0+$/, '') : text
}

function fieldTexts(price: ModelPrice, threshold?: number): string[] {
  return fields.flatMap(([unit, field]) => {
    const value = price[unit]
    if (value === undefined) return []
    if (typeof value === 'number') return threshold === undefined ? [`${field}=${decimal(value)}`] : []
    if (threshold === undefined) return [`${field}=${decimal(value.base)}`]
    const tier = value.tiers.find(({ start }) => start === threshold)
    return tier ? [`${field}=${decimal(tier.price)}`] : []
  })
}

/** One set of prices as text; undefined if it does not contain a price that Tollgate can charge. */
function setText(price: ModelPrice, free: boolean): string | undefined {
  const parts = fieldTexts(price)
  if (typeof price.requests_kcount === 'number') parts.push(`call=${decimal(price.requests_kcount / 1000)}`)
  if (typeof price.input_audio_hours === 'number') parts.push(`hour=${decimal(price.input_audio_hours)}`)
  if (parts.length === 0) return free ? 'in=0' : undefined
  if (!parts.some((part) => /^(in|hour)=/.test(part))) return undefined
  const thresholds = new Set(
    Object.values(price).flatMap((value) => (typeof value === 'object' ? value.tiers.map(({ start }) => start) : [])),
  )
  const tiers = [...thresholds].sort((a, b) => a - b).map((start) => ` >${start} ${fieldTexts(price, start).join(' ')}`)
  return parts.join(' ') + tiers.join('')
}

/**
 * The prices in effect on `date`, followed by prices that start later or apply only at certain hours of the day. The
 * last price that applies wins.
 */
function priceText(model: ModelInfo, date: string): string | undefined {
  const all: ConditionalPrice[] = Array.isArray(model.prices) ? model.prices : [{ prices: model.prices }]
  const past = all.findLastIndex(
    ({ constraint }) => constraint && 'start_date' in constraint && constraint.start_date <= date,
  )
  const free = /:free$|^moderation$/.test(model.id)
  const sets = all.slice(Math.max(past, 0)).map(({ constraint, prices }, index) => {
    const text = setText(prices, free)
    if (text === undefined || index === 0 || !constraint) return text
    if ('start_date' in constraint) return `@${constraint.start_date} ${text}`
    return `@${constraint.start_time.slice(0, 5)}-${constraint.end_time.slice(0, 5)} ${text}`
  })
  return sets.includes(undefined) ? undefined : sets.join(' ; ')
}

function section(id: string, channelType: number, models: readonly ModelInfo[], date: string): string[] {
  const seen = new Set<string>()
  const lines = models.flatMap((model) => {
    const price = priceText(model, date)?.concat(id === 'groq' && model.id.startsWith('whisper') ? ' min=10' : '')
    const names = [...new Set([...namesOf({ equals: model.id }), ...namesOf(model.match)])].filter(
      (name) => !seen.has(name),
    )
    if (price === undefined || names.length === 0) return []
    for (const name of names) seen.add(name)
    return [`${names.join(' ')} | ${price}`]
  })
  return [`# ${id} ${channelType}`, ...lines]
}

const packageFile = new URL(`../node_modules/${packageName}/package.json`, import.meta.url)
const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }
const date = publicationDates[version]
if (date === undefined) throw new Error(`publication date of ${packageName} ${version} is not known: add it`)

const table = providers.flatMap(([id, channelType]) => {
  const provider = findProvider({ providerId: id })
  if (provider?.id !== id) throw new Error(`${packageName} has no provider ${id}`)
  if (id !== 'google') return section(id, channelType, provider.models, date)
  const claude = provider.models.filter((model) => model.id.startsWith('claude'))
  const own = provider.models.filter((model) => !model.id.startsWith('claude'))
  return [...section(id, channelType, own, date), ...section('vertex', vertexChannelType, claude, date)]
})

writeFileSync(
  outputFile,
  `/** Generated by tools/make-default-prices.ts; do not edit. Data: ${packageName} ${version}, MIT licence. */
export const defaultPriceData = {
  source: '${packageName}',
  version: '${version}',
  date: '${date}',
  table: \`
${table.join('\n').replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${')}
\`,
}
`,
)
console.log(`${table.length} lines written to ${outputFile.pathname}`)
