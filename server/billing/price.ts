/**
 * The price of a call. It is token counts × class prices × group ratio, computed in exact integers and rounded up once.
 *
 * A class price is in picoquota (1e-12 quota) per token, so that a model ratio in millionths times a multiplier in
 * millionths is exact. A group ratio is in millionths. A charge is a whole number of quota units.
 */
import type { Usage } from '../../contract/usage.ts'
import { scaleRational } from '../lib/decimal.ts'

/** Prices of the token classes, each in picoquota per token. */
export interface ClassPrices {
  readonly input: bigint
  readonly cachedInput: bigint
  readonly cacheWrite: bigint
  readonly cacheWrite1h: bigint
  readonly audioInput: bigint
  readonly cachedAudioInput: bigint
  readonly imageInput: bigint
  readonly output: bigint
  readonly reasoning: bigint
  readonly audioOutput: bigint
  readonly imageOutput: bigint
}

/** The class prices of a free model. */
export const freePrices: ClassPrices = {
  input: 0n,
  cachedInput: 0n,
  cacheWrite: 0n,
  cacheWrite1h: 0n,
  audioInput: 0n,
  cachedAudioInput: 0n,
  imageInput: 0n,
  output: 0n,
  reasoning: 0n,
  audioOutput: 0n,
  imageOutput: 0n,
}

/** The prices for the whole call if its prompt is longer than `above` tokens. */
export interface PriceTier {
  readonly above: number
  readonly prices: ClassPrices
}

/**
 * The unit of the `input` price: a token, a character of speech input, a thousandth of an image, or a 200th of a minute
 * of audio. With this audio unit, whisper-1's ratio of 15 is its price of $0.006 a minute. A model that is priced per
 * search has no `input` price; its `perCall` price is charged for each search unit.
 */
export type PriceBasis = 'tokens' | 'characters' | 'image' | 'duration' | 'search'

/** The prices of the token classes, and the additional charges. */
export interface PriceTerms {
  readonly basis: PriceBasis
  readonly prices: ClassPrices
  /** The tiers, with the highest threshold first. */
  readonly tiers: readonly PriceTier[]
  /** Charged once per call, or per search unit, in picoquota. */
  readonly perCall: bigint
  /** The price of an hour of audio in picoquota; 0 unless the basis is `duration`. */
  readonly perHour: bigint
  /** Audio shorter than this many seconds is charged as if it were this long. */
  readonly minimumSeconds: number
}

/** Everything needed to price one model on one channel type. Created by the price book, and frozen. */
export interface PriceSheet extends PriceTerms {
  readonly model: string
  /** The source of the model ratio: an option, or the default table. */
  readonly source: 'option' | 'default'
  /**
   * Decimal strings for the log: the input price as a ratio (1 = one quota unit per token), and the output price
   * divided by the input price.
   */
  readonly modelRatio: string
  readonly completionRatio: string
}

/** The ratio 1 in millionths. */
export const ratioOne = 1_000_000n
/** One quota unit in picoquota. */
export const quotaOne = 1_000_000_000_000n

const unitsPerQuota = quotaOne * ratioOne
const largestQuota = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * The charge for a call in quota. It is computed exactly and rounded up once, so it is 0 only if the exact price is 0.
 * A result above 2^53 − 1 is returned as 2^53 − 1, which no balance can pay. Throws RangeError if a count is negative
 * or not whole.
 * @param groupRatio millionths
 * @param tierRatio millionths
 * @param fees picoquota for tools that the service ran, the same in every tier
 */
export function chargeTokens(
  usage: Usage,
  sheet: PriceSheet,
  groupRatio: bigint,
  tierRatio?: bigint,
  fees = 0n,
): number {
  const prices = pricesAt(sheet, usage.promptTokens)
  if (isTokensAlone(sheet, groupRatio, tierRatio, fees)) {
    const quick = quickCharge(usage, prices)
    if (quick !== undefined) return quick
  }
  const tokens = sheet.perCall + promptAmount(usage, prices) + completionAmount(usage, prices)
  if (tierRatio === undefined) return roundUp((tokens + fees) * groupRatio)
  return roundUp((tokens * tierRatio + fees * ratioOne) * groupRatio, ratioOne)
}

/**
 * The number of plain completion tokens that `quota` still pays for after the prompt. This is the largest count whose
 * charge does not exceed the quota. It is −1 if the prompt alone is too expensive, and 2^53 − 1 if completion tokens
 * are free.
 * @param prompt prompt tokens, or a usage whose completion side is ignored
 * @param groupRatio millionths
 * @param kind the kind of output that the completion may contain instead of text
 * @param tierRatio millionths
 * @param fees picoquota for tools that the service may run
 */
export function tokensAffordable(
  quota: number,
  sheet: PriceSheet,
  groupRatio: bigint,
  prompt: number | Usage,
  kind?: ExpensiveOutput,
  tierRatio?: bigint,
  fees = 0n,
): number {
  const usage = typeof prompt === 'number' ? { promptTokens: prompt, completionTokens: 0 } : prompt
  const prices = pricesAt(sheet, usage.promptTokens)
  if (kind === undefined && isTokensAlone(sheet, groupRatio, tierRatio, fees)) {
    const quick = quicklyAffordable(quota, usage, prices)
    if (quick !== undefined) return quick
  }
  const units = tierRatio === undefined ? unitsPerQuota : unitsPerQuota * ratioOne
  const ratio = tierRatio === undefined ? groupRatio : groupRatio * tierRatio
  const feesAmount = tierRatio === undefined ? fees * groupRatio : fees * groupRatio * ratioOne
  const rest = BigInt(Math.floor(quota)) * units - (sheet.perCall + promptAmount(usage, prices)) * ratio - feesAmount
  if (rest < 0n) return -1
  let completionPrice = prices.output
  if (prices.reasoning > completionPrice) completionPrice = prices.reasoning
  const mediaPrice = kind === undefined ? 0n : kind === 'audio' ? prices.audioOutput : prices.imageOutput
  if (mediaPrice > completionPrice) completionPrice = mediaPrice
  const perToken = completionPrice * ratio
  if (perToken === 0n) return Number.MAX_SAFE_INTEGER
  return clampToSafe(rest / perToken)
}

/** True if the charge is the price of the tokens alone, without ratios and fees. */
function isTokensAlone(sheet: PriceSheet, groupRatio: bigint, tierRatio: bigint | undefined, fees: bigint): boolean {
  return tierRatio === undefined && groupRatio === ratioOne && sheet.perCall === 0n && fees === 0n
}

/** Prices of text as numbers; NaN if a price is too large to be exact. */
interface TextPrices {
  readonly input: number
  readonly output: number
}

/** The text prices of each set of prices. They can be cached because a set of prices never changes. */
const textPrices = new WeakMap<ClassPrices, TextPrices>()

function textPricesOf(prices: ClassPrices): TextPrices {
  let known = textPrices.get(prices)
  if (!known) {
    const exact = (price: bigint) => (price <= largestQuota ? Number(price) : Number.NaN)
    known = { input: exact(prices.input), output: exact(prices.output) }
    textPrices.set(prices, known)
  }
  return known
}

const picoPerQuota = Number(quotaOne)

/**
 * The charge for a usage that has only text tokens. It is computed with numbers, because big integers take ten times as
 * long. Undefined if the usage has other token classes, or if a number could be inexact.
 */
function quickCharge(usage: Usage, prices: ClassPrices): number | undefined {
  if (!isText(usage) || (usage.reasoningTokens && prices.reasoning !== prices.output)) return undefined
  const { input, output } = textPricesOf(prices)
  const amount = whole(usage.promptTokens) * input + whole(usage.completionTokens) * output
  // Products and sums of whole numbers are exact up to this limit. The negated comparison also rejects NaN.
  if (!(amount <= Number.MAX_SAFE_INTEGER)) return undefined
  const rest = amount % picoPerQuota
  return (amount - rest) / picoPerQuota + (rest > 0 ? 1 : 0)
}

/**
 * `tokensAffordable` for text, computed with numbers; undefined if the usage has other classes, or if a number could be
 * inexact.
 */
function quicklyAffordable(quota: number, usage: Usage, prices: ClassPrices): number | undefined {
  if (!isText(usage) || prices.reasoning > prices.output) return undefined
  const { input, output } = textPricesOf(prices)
  const whole = Math.floor(quota) * picoPerQuota
  const prompt = usage.promptTokens * input
  if (!(output > 0 && prompt >= 0 && prompt <= whole && whole <= Number.MAX_SAFE_INTEGER)) return undefined
  const rest = whole - prompt
  return (rest - (rest % output)) / output
}

/** True if all tokens are uncached text. False if a count of another class is NaN. */
function isText(usage: Usage): boolean {
  const { cachedTokens = 0, cacheWriteTokens = 0, cacheWrite1hTokens = 0, audioPromptTokens = 0 } = usage
  const { imagePromptTokens = 0, audioCompletionTokens = 0, imageCompletionTokens = 0 } = usage
  return (
    cachedTokens === 0 &&
    cacheWriteTokens === 0 &&
    cacheWrite1hTokens === 0 &&
    audioPromptTokens === 0 &&
    imagePromptTokens === 0 &&
    audioCompletionTokens === 0 &&
    imageCompletionTokens === 0
  )
}

/** Kinds of output besides text that may be more expensive. */
export type ExpensiveOutput = 'audio' | 'image'

/**
 * The most expensive kind of output that the response may contain, if it costs more than text. Audio is returned only
 * on request. Image models return images unless the request lists output types that do not include images.
 */
export function expensiveOutput(
  { prices }: PriceSheet,
  outputs: readonly string[] | undefined,
): ExpensiveOutput | undefined {
  const { output, audioOutput, imageOutput } = prices
  const paints = imageOutput > output && (outputs === undefined || outputs.includes('image'))
  const speaks = audioOutput > output && outputs !== undefined && outputs.includes('audio')
  if (paints && speaks) return imageOutput > audioOutput ? 'image' : 'audio'
  return speaks ? 'audio' : paints ? 'image' : undefined
}

/** A usage whose completion tokens are all of one kind of output. */
export function allOf(kind: ExpensiveOutput | undefined, promptTokens: number, completionTokens: number): Usage {
  if (kind === 'audio') return { promptTokens, completionTokens, audioCompletionTokens: completionTokens }
  if (kind === 'image') return { promptTokens, completionTokens, imageCompletionTokens: completionTokens }
  return { promptTokens, completionTokens }
}

/** The class prices that apply to a prompt of this many tokens. */
function pricesAt(sheet: PriceSheet, promptTokens: number): ClassPrices {
  for (const tier of sheet.tiers) if (promptTokens > tier.above) return tier.prices
  return sheet.prices
}

/**
 * Converts an amount in picoquota × millionths to whole quota. The result is rounded up and limited to the largest safe
 * integer.
 * @param scale a further factor by which the amount is divided
 */
export function roundUp(amount: bigint, scale = 1n): number {
  const unit = scale === 1n ? unitsPerQuota : unitsPerQuota * scale
  return clampToSafe((amount + unit - 1n) / unit)
}

function clampToSafe(value: bigint): number {
  return Number(value > largestQuota ? largestQuota : value)
}

/**
 * The amount for the prompt. Each token is in one class. Audio and images are fitted into the total first, and the rest
 * is text. If the parts of a report exceed their total, the charge therefore never covers more tokens than the total.
 * Tokens read from or written to the cache are charged as their reported kind. Cache tokens without a reported kind are
 * charged as text while there is text left, then as images, and then as audio.
 */
function promptAmount(usage: Usage, prices: ClassPrices): bigint {
  const total = whole(usage.promptTokens)
  if (total === 0) return 0n
  const sound = least(usage.audioPromptTokens ?? 0, total)
  const images = least(usage.imagePromptTokens ?? 0, total - sound)
  const cached = least(usage.cachedTokens ?? 0, total)
  const written = least(usage.cacheWriteTokens ?? 0, total - cached)
  const hour = least(usage.cacheWrite1hTokens ?? 0, written)
  const text = total - sound - images
  if (sound === 0 && images === 0) {
    if (cached === 0 && written === 0) return BigInt(text) * prices.input
    return (
      BigInt(cached) * prices.cachedInput +
      writtenAmount(written, hour, prices, prices.input) +
      BigInt(text - cached - written) * prices.input
    )
  }
  const cachedMedia = {
    sound: least(usage.cachedAudioTokens ?? 0, Math.min(sound, cached)),
    images: least(usage.cachedImageTokens ?? 0, Math.min(images, cached)),
  }
  cachedMedia.images = Math.min(cachedMedia.images, cached - cachedMedia.sound)
  const read = inTurn(
    cached - cachedMedia.sound - cachedMedia.images,
    text,
    images - cachedMedia.images,
    sound - cachedMedia.sound,
  )
  read.images += cachedMedia.images
  read.sound += cachedMedia.sound
  const stored = inTurn(written, text - read.text, images - read.images, sound - read.sound)
  const hourly = inTurn(hour, stored.text, stored.images, stored.sound)
  return (
    BigInt(read.text) * prices.cachedInput +
    BigInt(read.images) * follow(prices.cachedInput, prices.input, prices.imageInput) +
    BigInt(read.sound) * prices.cachedAudioInput +
    writtenAmount(stored.text, hourly.text, prices, prices.input) +
    writtenAmount(stored.images, hourly.images, prices, prices.imageInput) +
    writtenAmount(stored.sound, hourly.sound, prices, prices.audioInput) +
    BigInt(text - read.text - stored.text) * prices.input +
    BigInt(images - read.images - stored.images) * prices.imageInput +
    BigInt(sound - read.sound - stored.sound) * prices.audioInput
  )
}

/** Assigns `tokens` first to the remaining text, then to images, and then to audio. */
function inTurn(tokens: number, text: number, images: number, sound: number) {
  const asText = Math.min(tokens, text)
  const asImages = Math.min(tokens - asText, images)
  return { text: asText, images: asImages, sound: Math.min(tokens - asText - asImages, sound) }
}

/**
 * The amount for `tokens` that were written to the cache. `hour` of them are cached for an hour. `fresh` is the price
 * of an uncached token of the same kind.
 */
function writtenAmount(tokens: number, hour: number, prices: ClassPrices, fresh: bigint): bigint {
  if (tokens === 0) return 0n
  return (
    BigInt(tokens - hour) * follow(prices.cacheWrite, prices.input, fresh) +
    BigInt(hour) * follow(prices.cacheWrite1h, prices.input, fresh)
  )
}

/**
 * Returns `from` × `anchor` ÷ `fromAnchor`, a price with the same ratio to `anchor` as `from` has to `fromAnchor`. If
 * `fromAnchor` is 0, returns `anchor`.
 */
export function follow(from: bigint, fromAnchor: bigint, anchor: bigint): bigint {
  if (fromAnchor === anchor) return from
  return fromAnchor === 0n ? anchor : scaleRational(from, anchor, fromAnchor)
}

function completionAmount(usage: Usage, prices: ClassPrices): bigint {
  let left = whole(usage.completionTokens)
  if (left === 0) return 0n
  let amount = 0n
  if (usage.audioCompletionTokens) {
    const taken = least(usage.audioCompletionTokens, left)
    amount += BigInt(taken) * prices.audioOutput
    left -= taken
  }
  if (usage.imageCompletionTokens) {
    const taken = least(usage.imageCompletionTokens, left)
    amount += BigInt(taken) * prices.imageOutput
    left -= taken
  }
  if (usage.reasoningTokens && prices.reasoning !== prices.output) {
    const taken = least(usage.reasoningTokens, left)
    amount += BigInt(taken) * prices.reasoning
    left -= taken
  }
  return left === 0 ? amount : amount + BigInt(left) * prices.output
}

function least(count: number, limit: number): number {
  return Math.min(whole(count), limit)
}

function whole(count: number): number {
  if (!Number.isSafeInteger(count) || count < 0) throw new RangeError(`not a token count: ${count}`)
  return count
}
