/**
 * The text form of the default price tables, one model per line, so that a change of price is a one-line diff:
 *
 *     name alias alias | in=2.5 out=15 read=0.25 >272000 in=5 out=22.5 read=0.5 ; @2027-01-01 in=5 out=30
 *
 * - `in out read write write1h audio audioRead image think audioOut imageOut`: $ per million tokens
 * - `char`: $ per million characters
 * - `pic`: $ per image
 * - `hour`: $ per hour of audio
 * - `call`: $ per call, in addition
 * - `search`: $ per search unit of a rerank model, which has no other price
 * - `min`: the shortest audio that is charged, in seconds
 * - `>N`: prices that apply to the call if the prompt has more than N tokens
 * - `;`: starts another set of prices. `@2027-01-01` makes it apply from that day on (UTC), `@01:00-04:00` in those
 *   hours (UTC). The last set that applies is used.
 * - `# name type`: starts the section of a provider. The type is the channel type to which the section's prices are
 *   bound, or 0 if they are not bound to one.
 */

import { scaleDecimal, scaleRational } from '../lib/decimal.ts'
import { type ClassPrices, follow, type PriceBasis, type PriceTerms } from './price.ts'

/**
 * The time at which a set of prices applies: either from a point in time on, or between two minutes of the UTC day. The
 * time between them may include midnight.
 */
export type PriceCondition = { readonly fromMs: number } | { readonly fromMinute: number; readonly toMinute: number }

/** One set of prices of a model, in the units of price.ts. */
export interface PriceSet extends PriceTerms {
  readonly condition: PriceCondition | undefined
}

/**
 * The rate, in quota per dollar, at which the tables convert currency to quota. Ratio 1 is $2 per million tokens, or 1
 * quota per token.
 */
const quotaPerUnit = 500_000n
/** If a model ratio sets the price of audio, an hour of audio counts as this many tokens. */
export const tokensPerSoundHour = 12_000n

/**
 * Parses the price part of a line. Throws if the text does not match the grammar. Because the tables are part of the
 * program, this is always a bug.
 */
export function parsePrices(text: string): readonly PriceSet[] {
  return text.split(';').map((part) => parseSet(part.trim()))
}

function parseSet(text: string): PriceSet {
  const words = text.split(/\s+/)
  const condition = words[0]?.startsWith('@') ? parseCondition(words.shift() ?? '') : undefined
  const base = new Map<string, bigint>()
  const tiers: { above: number; fields: Map<string, bigint> }[] = []
  let fields = base
  for (const word of words) {
    if (word.startsWith('>')) {
      fields = new Map()
      tiers.push({ above: Number(word.slice(1)), fields })
      continue
    }
    const [field = '', value = ''] = word.split('=')
    const scaled = scaleDecimal(value, 12)
    if (!scaled || scaled.rounded || scaled.value < 0n)
      throw new Error(`default prices: cannot read "${word}" in "${text}"`)
    fields.set(field, scaled.value)
  }
  const perHour = (base.get('hour') ?? 0n) * quotaPerUnit
  const unit = inputPrice(base, perHour)
  const prices = classPrices(base, unit)
  return {
    condition,
    basis: basisOf(base),
    prices,
    tiers: tiers
      .map(({ above, fields: changed }) => {
        const merged = new Map([...base, ...changed])
        return { above, prices: classPrices(merged, (merged.get('in') ?? 0n) / 2n) }
      })
      .sort((a, b) => b.above - a.above),
    perCall: (base.get('search') ?? base.get('call') ?? 0n) * quotaPerUnit,
    perHour,
    minimumSeconds: Number((base.get('min') ?? 0n) / 1_000_000_000_000n),
  }
}

function inputPrice(fields: ReadonlyMap<string, bigint>, perHour: bigint): bigint {
  if (fields.has('search')) return 0n
  const image = fields.get('pic')
  if (image !== undefined) return image * (quotaPerUnit / 1000n)
  if (perHour > 0n) return scaleRational(perHour, 1n, tokensPerSoundHour)
  const perMillion = fields.get('in') ?? fields.get('char')
  if (perMillion === undefined) throw new Error(`default prices: no input price in ${[...fields.keys()].join(' ')}`)
  return perMillion / 2n
}

function basisOf(fields: ReadonlyMap<string, bigint>): PriceBasis {
  if (fields.has('pic')) return 'image'
  if (fields.has('char')) return 'characters'
  if (fields.has('search')) return 'search'
  return fields.has('hour') ? 'duration' : 'tokens'
}

/**
 * The prices of all classes. A class without its own price costs as much as a plain input or output token. The price of
 * cached audio is in the same proportion to the price of audio as cached text is to text. Audio with a price per hour
 * is charged only by its length.
 */
function classPrices(fields: ReadonlyMap<string, bigint>, input: bigint): ClassPrices {
  const price = (field: string, otherwise: bigint): bigint => {
    const perMillion = fields.get(field)
    return perMillion === undefined ? otherwise : perMillion / 2n
  }
  const output = price('out', fields.has('in') ? input : 0n)
  const audioInput = price('audio', input)
  const cacheWrite = price('write', input)
  const cachedInput = price('read', input)
  return {
    input,
    cachedInput,
    cacheWrite,
    cacheWrite1h: price('write1h', cacheWrite),
    audioInput,
    cachedAudioInput: price('audioRead', follow(cachedInput, input, audioInput)),
    imageInput: price('image', input),
    output,
    reasoning: price('think', output),
    audioOutput: price('audioOut', output),
    imageOutput: price('imageOut', output),
  }
}

function parseCondition(word: string): PriceCondition {
  const hours = /^@(\d\d):(\d\d)-(\d\d):(\d\d)$/.exec(word)
  if (hours) {
    const [, fromHour, fromMinute, toHour, toMinute] = hours
    return {
      fromMinute: Number(fromHour) * 60 + Number(fromMinute),
      toMinute: Number(toHour) * 60 + Number(toMinute),
    }
  }
  const fromMs = Date.parse(`${word.slice(1)}T00:00:00Z`)
  if (Number.isNaN(fromMs)) throw new Error(`default prices: cannot read the condition "${word}"`)
  return { fromMs }
}

/**
 * The index of the set in force at a given time. This is the last set whose condition is met. The first set has no
 * condition.
 */
export function setInForce(sets: readonly PriceSet[], nowMs: number): number {
  for (let index = sets.length - 1; index > 0; index--) {
    const condition = sets[index]?.condition
    if (condition && holds(condition, nowMs)) return index
  }
  return 0
}

function holds(condition: PriceCondition, nowMs: number): boolean {
  if ('fromMs' in condition) return nowMs >= condition.fromMs
  const minute = Math.floor(nowMs / 60_000) % 1440
  const { fromMinute, toMinute } = condition
  return fromMinute <= toMinute ? minute >= fromMinute && minute < toMinute : minute >= fromMinute || minute < toMinute
}
