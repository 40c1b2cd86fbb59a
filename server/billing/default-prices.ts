/** The built-in prices, which apply to models for which no option sets a price. */
import { defaultPriceData } from './default-prices.gen.ts'
import { extraPriceTable } from './default-prices-extra.ts'
import { nameCandidates } from './name-candidates.ts'
import { type PriceSet, parsePrices } from './price-lines.ts'

/**
 * The default price of a model: its sets of prices, and the provider that charges them. The first set has no condition
 * (see setInForce).
 */
export interface DefaultPrice {
  readonly provider: string
  readonly sets: readonly PriceSet[]
}

/**
 * A default price and the name under which it is listed. `channelType` is 0 for prices that are not bound to a channel
 * type.
 */
export interface ListedPrice extends DefaultPrice {
  readonly name: string
  readonly channelType: number
}

/** The source of the default prices and the date on which it was published, for display. */
export const defaultPricesSource = {
  name: defaultPriceData.source,
  version: defaultPriceData.version,
  date: defaultPriceData.date,
} as const

/** A line of a table. Its prices are parsed on first use. */
interface Line {
  readonly provider: string
  /** The channel type of the line's section. */
  readonly channelType: string
  readonly text: string
  parsed: DefaultPrice | undefined
}

interface Index {
  readonly byName: Map<string, Line>
  readonly byType: Map<string, Line>
}

let built: Index | undefined

/**
 * The default price of a model on a channel of the given type. It is the reseller's price if the channel type belongs
 * to a reseller that has its own price, otherwise the vendor's price. Names are compared case-insensitively. A name
 * with a date, a build number or a word such as "latest" at its end is priced like the model without that suffix,
 * unless it has its own price. Undefined if the model is not in the tables.
 */
export function findDefaultPrice(model: string, channelType: number): DefaultPrice | undefined {
  const index = defaultIndex()
  const name = model.toLowerCase()
  const line = lookUp(index.byType, name, `(${channelType})`) ?? lookUp(index.byName, name, '')
  return line && priceOf(line)
}

/** All default prices, one for each name. */
export function* listDefaultPrices(): Generator<ListedPrice> {
  const { byName, byType } = defaultIndex()
  for (const [name, line] of byName) yield { name, channelType: 0, ...priceOf(line) }
  for (const [key, line] of byType) {
    const open = key.lastIndexOf('(')
    yield { name: key.slice(0, open), channelType: Number(key.slice(open + 1, -1)), ...priceOf(line) }
  }
}

function lookUp(table: ReadonlyMap<string, Line>, name: string, suffix: string): Line | undefined {
  for (const candidate of nameCandidates(name)) {
    const line = table.get(candidate + suffix)
    if (line) return line
  }
  return undefined
}

function priceOf(line: Line): DefaultPrice {
  line.parsed ??= { provider: line.provider, sets: parsePrices(line.text) }
  return line.parsed
}

function defaultIndex(): Index {
  built ??= buildIndex([extraPriceTable, defaultPriceData.table])
  return built
}

/**
 * Indexes the lines by their names. A name without a channel type in brackets refers to the first section of the tables
 * that lists it.
 */
function buildIndex(tables: readonly string[]): Index {
  const index: Index = { byName: new Map(), byType: new Map() }
  for (const table of tables) {
    let provider = ''
    let channelType = '0'
    for (const text of table.split('\n')) {
      if (text === '') continue
      if (text.startsWith('# ')) {
        ;[, provider = '', channelType = '0'] = text.split(' ')
        continue
      }
      const bar = text.indexOf(' | ')
      const line: Line = { provider, channelType, text: text.slice(bar + 3), parsed: undefined }
      for (const name of text.slice(0, bar).toLowerCase().split(' ')) addName(index, name, channelType, line)
    }
  }
  return index
}

function addName({ byName, byType }: Index, name: string, channelType: string, line: Line): void {
  const bound = name.endsWith(')')
  if (bound) {
    byType.set(name, line)
    return
  }
  if (channelType === '0') {
    if (!byName.has(name)) byName.set(name, line)
    return
  }
  // An entry of the same section exists already. It comes from the table maintained by hand, which is read first and
  // takes precedence.
  if (byName.get(name)?.channelType === channelType) return
  const known = lookUp(byName, name, '')
  if (!known) byName.set(name, line)
  else if (known.text !== line.text) byType.set(`${name}(${channelType})`, line)
}
