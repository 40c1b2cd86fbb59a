import type { Usage } from '../../contract/usage.ts'
import { speechCharge, transcriptionCharge } from '../billing/audio-price.ts'
import { imageCharge } from '../billing/image-price.ts'
import { contextTokens, maxOutputTokens, reasonsUnseen } from '../billing/model-limits.ts'
import {
  allOf,
  chargeTokens,
  type DearOutput,
  dearOutput,
  type PriceSheet,
  ratioOne,
  tokensAffordable,
} from '../billing/price.ts'
import type { PriceBook } from '../billing/ratios.ts'
import { isUsualTier } from '../dialects/service-tier.ts'
import { GatewayError } from '../errors.ts'
import { isObject } from '../lib/json.ts'
import type { AnyCall, RelayCall } from './call.ts'

/** What a call turned out to be, in the terms of its price. */
export interface Measure {
  /** Tokens, from the upstream or counted. */
  usage: Usage
  /** The usage was counted here. */
  estimated: boolean
  /** The responses of a session; `usage` is their sum. */
  parts?: readonly Usage[]
  /** Units of what a session used beside its model, at prices of its own. */
  beside?: number
  /** Length of transcribed sound where the upstream told it. */
  seconds?: number | undefined
  /** Where the last cue of a transcript ends; the sound is about so long. */
  cueSeconds?: number | undefined
  /** Images in the answer where it tells. */
  images?: number | undefined
  /** The answer was cut off: whole images that had come by then, and whether the upstream is to blame. */
  cut?: { images: number; byUpstream: boolean }
  /** The upstream failed before anything came. */
  isFree?: true
}

/** The price of one call at one model: what to hold, and what to charge. Kept from hold to settle. */
export interface Charging {
  readonly sheet: PriceSheet
  readonly groupRatio: bigint
  /** Units to hold for a prompt of so many tokens: the call's ceiling, or a stream's first slice. */
  ceiling(promptTokens: number): number
  /** Fewest units with which the call makes sense: the prompt and one token. */
  least(promptTokens: number): number
  /** Tokens that count against limits per minute until the call ends: the prompt and the output that is asked for. */
  reserved(promptTokens: number): number
  /** Units for the prompt and what was delivered. */
  soFar(promptTokens: number, completionTokens: number): number
  /** Completion tokens of a stream that `units` surely pay for after the prompt. */
  paidTokens(units: number, promptTokens: number): number
  /** Completion tokens per choice that `units` pay for after the prompt; undefined = no need to cap. */
  affordable(units: number, promptTokens: number): number | undefined
  /** The charge, and the token figures of the log row. */
  charge(measure: Measure): Charge
}

/** What is charged, and what the log says of it. */
export interface Charge {
  quota: number
  promptTokens: number
  completionTokens: number
  estimated: boolean
  /** Multiplier of the service tier in millionths; absent = one. */
  tierRatio?: bigint | undefined
}

export const nothing: Charge = { quota: 0, promptTokens: 0, completionTokens: 0, estimated: false }

/** Ceiling of a plain call when nobody knows how much the model may answer. */
const unknownCeilingTokens = 32_768
/** Compressed speech has at least about this many bytes per second; what an upload is held for. */
const leastAudioBytesPerSecond = 4_000
/** Uncompressed stereo of the best usual quality has no more: an upload is at least so long, whatever was heard in it. */
const mostAudioBytesPerSecond = 192_000

/** Prices a call for a model as the upstream calls it. Throws GatewayError (model_not_priced, image errors). */
export function chargingFor(
  call: AnyCall,
  prices: PriceBook,
  model: string,
  channelType: number,
  sliceTokens: number,
): Charging {
  const sheet = prices.sheet(model, channelType)
  if (!sheet) {
    throw new GatewayError('model_not_priced', `model ${model} has no price; ask the administrator to set one`, {
      param: 'model',
    })
  }
  const groupRatio = prices.groupRatio(call.caller.group)
  switch (call.mode) {
    case 'images':
    case 'image-edits':
    case 'image-variations':
      return imageCharging(call, sheet, groupRatio, model)
    case 'speech':
      return speechCharging(call, sheet, groupRatio)
    case 'transcriptions':
    case 'translations':
      return transcriptionCharging(call, sheet, groupRatio)
    case 'realtime':
      return sessionCharging(sheet, groupRatio, sliceTokens)
    default:
      return new TokenCharging(call, sheet, groupRatio, model, sliceTokens, (tier) =>
        prices.tierRatio(tier, model, channelType),
      )
  }
}

/** A call that is charged by tokens. A class, because thousands of streams are open at a time. */
class TokenCharging implements Charging {
  readonly sheet: PriceSheet
  readonly groupRatio: bigint
  readonly #choices: number
  readonly #generates: boolean
  /** A stream holds slice by slice, as far as what is generated can be seen. */
  readonly #isSliced: boolean
  /** Most tokens of one choice. */
  readonly #whole: number
  /** Completion tokens to hold for. */
  readonly #held: number
  /** Completion tokens that the call is taken to want. */
  readonly #wanted: number
  /** What the answer may be in place of text, where that is dearer. */
  readonly #dear: DearOutput | undefined
  /** Tokens that the prompt may have where most of it cannot be seen; 0 = all of it is. */
  readonly #openPrompt: number
  /** Multiplier of the service tier that is asked for, where it is dearer, in millionths. */
  readonly #tierRatio: bigint | undefined
  readonly #ratioOf: (tier: string) => bigint | undefined

  constructor(
    call: RelayCall,
    sheet: PriceSheet,
    groupRatio: bigint,
    model: string,
    sliceTokens: number,
    ratioOf: (tier: string) => bigint | undefined,
  ) {
    const { choices, maxTokens, stream, asksToReason, outputs, prompt, tier } = call.facts
    this.#ratioOf = ratioOf
    this.#tierRatio = tier === undefined ? undefined : dearerRatio(tier, ratioOf)
    this.sheet = sheet
    this.groupRatio = groupRatio
    this.#choices = choices
    this.#generates = call.mode === 'chat' || call.mode === 'completions'
    this.#whole = maxTokens ?? maxOutputTokens(model) ?? unknownCeilingTokens
    this.#dear = this.#generates ? dearOutput(sheet, outputs) : undefined
    // Unseen reasoning is held for, and capped, as a plain answer is; so are sound and images, which cannot be counted.
    this.#isSliced = stream && !reasonsUnseen(model) && !asksToReason && !this.#dear
    this.#openPrompt = prompt.isOpenEnded ? contextTokens(model) : 0
    const slice = Math.min(sliceTokens, this.#whole)
    this.#held = this.#generates ? (this.#isSliced ? slice : this.#whole) * choices : 0
    // A call that names no limit is not taken to want all that the model could answer.
    this.#wanted = this.#generates ? Math.min(maxTokens ?? sliceTokens, this.#whole) * choices : 0
  }

  reserved(promptTokens: number): number {
    return promptTokens + this.#wanted
  }

  ceiling(promptTokens: number): number {
    const prompt = Math.max(promptTokens, this.#openPrompt)
    return chargeTokens(allOf(this.#dear, prompt, this.#held), this.sheet, this.groupRatio, this.#tierRatio)
  }

  least(promptTokens: number): number {
    return this.soFar(promptTokens, this.#generates ? this.#choices : 0)
  }

  soFar(promptTokens: number, completionTokens: number): number {
    return chargeTokens({ promptTokens, completionTokens }, this.sheet, this.groupRatio, this.#tierRatio)
  }

  paidTokens(units: number, promptTokens: number): number {
    return tokensAffordable(units, this.sheet, this.groupRatio, promptTokens, undefined, this.#tierRatio)
  }

  affordable(units: number, promptTokens: number): number | undefined {
    if (!this.#generates || this.#isSliced) return undefined
    const paid = tokensAffordable(units, this.sheet, this.groupRatio, promptTokens, this.#dear, this.#tierRatio)
    const tokens = Math.floor(paid / this.#choices)
    return tokens >= this.#whole ? undefined : Math.max(1, tokens)
  }

  charge({ usage, estimated }: Measure): Charge {
    const tierRatio = usage.tier === undefined ? this.#tierRatio : this.#ratioIn(usage.tier)
    return {
      quota: chargeTokens(usage, this.sheet, this.groupRatio, tierRatio),
      promptTokens: usage.promptTokens,
      completionTokens: usage.completionTokens,
      estimated,
      tierRatio,
    }
  }

  /** The multiplier of the tier that the answer names; of one without a ratio that of the tier that was asked for. */
  #ratioIn(tier: string): bigint | undefined {
    return isUsualTier(tier) ? undefined : (this.#ratioOf(tier.toLowerCase()) ?? this.#tierRatio)
  }
}

/** The multiplier of a tier that is dearer than the usual one. Throws GatewayError (tier_not_priced). */
function dearerRatio(tier: string, ratioOf: (tier: string) => bigint | undefined): bigint | undefined {
  const ratio = ratioOf(tier)
  if (ratio === undefined) {
    throw new GatewayError('tier_not_priced', `service tier ${tier} has no price; leave it out`, {
      param: 'service_tier',
    })
  }
  return ratio > ratioOne ? ratio : undefined
}

/** A session is held for slice by slice, by the dearest it may say; what it used is told response by response. */
function sessionCharging(sheet: PriceSheet, groupRatio: bigint, sliceTokens: number): Charging {
  const price = (promptTokens: number, completionTokens: number) => {
    const text = { promptTokens, completionTokens }
    const sound = { ...text, audioPromptTokens: promptTokens, audioCompletionTokens: completionTokens }
    return Math.max(chargeTokens(text, sheet, groupRatio), chargeTokens(sound, sheet, groupRatio))
  }
  return {
    sheet,
    groupRatio,
    reserved: (prompt) => prompt + sliceTokens,
    ceiling: (prompt) => price(prompt, sliceTokens),
    least: (prompt) => price(prompt, 1),
    soFar: price,
    paidTokens: (units, prompt) => tokensAffordable(units, sheet, groupRatio, prompt),
    affordable: () => undefined,
    charge: ({ usage, estimated, parts, beside = 0 }) => ({
      // Rounded up once, but where a price depends on the length of the prompt it is that of each response.
      quota:
        beside +
        (parts && sheet.tiers.length > 0
          ? parts.reduce((sum, each) => sum + chargeTokens(each, sheet, groupRatio), 0)
          : chargeTokens(usage, sheet, groupRatio)),
      promptTokens: usage.promptTokens,
      completionTokens: usage.completionTokens,
      estimated,
    }),
  }
}

/** A call whose price is known, or bounded, before it is made. */
function fixedCharging(
  sheet: PriceSheet,
  groupRatio: bigint,
  ceiling: number,
  least: number,
  charge: Charging['charge'],
): Charging {
  return {
    sheet,
    groupRatio,
    reserved: (prompt) => prompt,
    ceiling: () => ceiling,
    least: () => least,
    soFar: () => ceiling,
    paidTokens: (units) => (units >= ceiling ? Number.MAX_SAFE_INTEGER : -1),
    affordable: () => undefined,
    charge,
  }
}

function imageCharging(call: RelayCall, sheet: PriceSheet, groupRatio: bigint, model: string): Charging {
  const field = (name: string) => (call.body.kind === 'json' ? call.body.json[name] : call.body.form.fields.get(name))
  // What decides the price must be what everybody reads it as.
  const text = (name: string) => {
    const value = field(name)
    if (value === undefined || value === null) return {}
    if (typeof value !== 'string')
      throw new GatewayError('invalid_field_value', `${name} must be a string`, { param: name })
    return { [name]: value }
  }
  const n = countOf(field('n'))
  const prompt = field('prompt')
  const asked = {
    model,
    ...text('size'),
    ...text('quality'),
    ...(n !== undefined && { n }),
    promptBytes: typeof prompt === 'string' ? Buffer.byteLength(prompt) : 0,
  }
  const mostImages = mostImagesOf(n ?? 1, field)
  const priceOf = (images: number) => {
    const found = imageCharge({ ...asked, images }, sheet, groupRatio)
    if (found.ok) return found
    throw new GatewayError(found.code, found.message, { param: found.param })
  }
  const { quota: most, byTokens } = priceOf(mostImages)
  return fixedCharging(
    sheet,
    groupRatio,
    most,
    most,
    ({ usage, estimated, cut, images = cut?.images ?? mostImages }) => {
      const reported = byTokens && !estimated
      // Models that are charged by tokens answer with images only: their output tokens are image tokens.
      const quota = reported
        ? chargeTokens({ ...usage, imageCompletionTokens: usage.completionTokens }, sheet, groupRatio)
        : images === mostImages
          ? most
          : priceOf(images).quota
      return {
        quota,
        promptTokens: reported ? usage.promptTokens : 0,
        completionTokens: reported ? usage.completionTokens : 0,
        estimated: byTokens && estimated,
      }
    },
  )
}

/** Other services' names for `n`, which pass on to them unread. */
export const imageCountFields = ['batch_size', 'num_images', 'num_outputs', 'number_of_images', 'samples'] as const
/** Images of a series at Volcengine whose length the caller leaves to the model (its API reference, "max_images"). */
const longestSeries = 15

/** The most images that the answer can have, going by every name that some service has for their number. */
function mostImagesOf(n: number, field: (name: string) => unknown): number {
  const counts = imageCountFields.map((name) => wholeNumber(field(name)))
  const series = field('sequential_image_generation')
  if (typeof series === 'string' && series !== 'disabled') {
    const options = field('sequential_image_generation_options')
    counts.push((isObject(options) ? wholeNumber(options['max_images']) : undefined) ?? longestSeries)
  }
  return Math.max(n, ...counts.map((count) => count ?? 0))
}

/** How many images: a whole number, in a form as digits. */
function countOf(given: unknown): number | undefined {
  if (given === undefined || given === null) return undefined
  const n = wholeNumber(given)
  if (n !== undefined) return n
  throw new GatewayError('n_not_within_range', 'n must be a whole number', { param: 'n' })
}

/** Images that a stream has before it ends, where each of them ends with an event of its own. */
export function imagesAsked({ body }: RelayCall): number {
  return wholeNumber(body.kind === 'json' ? body.json['n'] : body.form.fields.get('n')) ?? 1
}

function wholeNumber(given: unknown): number | undefined {
  const number = typeof given === 'string' && /^\s*\d{1,9}\s*$/.test(given) ? Number(given) : given
  return typeof number === 'number' && Number.isInteger(number) ? number : undefined
}

function speechCharging(call: RelayCall, sheet: PriceSheet, groupRatio: bigint): Charging {
  const input = call.facts.prompt.texts[0] ?? ''
  const ceiling = speechCharge({ input }, sheet, groupRatio).quota
  return fixedCharging(sheet, groupRatio, ceiling, ceiling, ({ usage, estimated, cut }) =>
    // Half a speech is of no use, whether it comes as events or as bytes.
    cut?.byUpstream ? nothing : speechCharge({ input, ...(!estimated && { usage }) }, sheet, groupRatio),
  )
}

function transcriptionCharging(call: RelayCall, sheet: PriceSheet, groupRatio: bigint): Charging {
  const bytes = call.body.kind === 'form' ? call.body.form.length : 0
  const ceiling = transcriptionCharge({ seconds: Math.ceil(bytes / leastAudioBytesPerSecond) }, sheet, groupRatio).quota
  const least = transcriptionCharge({ seconds: 1 }, sheet, groupRatio).quota
  const leastSeconds = Math.max(1, Math.ceil(bytes / mostAudioBytesPerSecond))
  return fixedCharging(
    sheet,
    groupRatio,
    Math.max(ceiling, least),
    least,
    ({ usage, estimated, seconds, cueSeconds }) =>
      transcriptionCharge(
        {
          ...(seconds !== undefined && { seconds }),
          ...(cueSeconds !== undefined && { cueSeconds }),
          ...(!estimated && { usage }),
          textTokens: usage.completionTokens,
          leastSeconds,
        },
        sheet,
        groupRatio,
      ),
  )
}
