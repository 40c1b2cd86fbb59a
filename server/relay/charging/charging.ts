import { speechCharge, transcriptionCharge } from '../../billing/audio-price.ts'
import { contextTokens, maxOutputTokens, reasonsUnseen } from '../../billing/model-limits.ts'
import {
  allOf,
  chargeTokens,
  type DearOutput,
  dearOutput,
  type PriceSheet,
  ratioOne,
  roundUp,
  tokensAffordable,
} from '../../billing/price.ts'
import type { PriceBook } from '../../billing/price-book.ts'
import { searchUnits, usualDocumentTokens } from '../../billing/search-price.ts'
import { searchesAlways } from '../../dialects/wire/hosted-tools.ts'
import { isUsualTier, partsOf } from '../../dialects/wire/service-tier.ts'
import { GatewayError } from '../../errors.ts'
import { isObject, tryStringify } from '../../lib/json.ts'
import type { AnyCall, RelayCall } from '../call/call.ts'
import { quickEstimate } from '../counting/quick-estimate.ts'
import { type Charge, type Charging, fixedCharging, type Measure, nothing } from './charging-types.ts'
import { imageCharging } from './image-charging.ts'
import { type ToolFees, toolFees } from './tool-fees.ts'

/** The ceiling of a non-streamed call when it is not known how many tokens the model may generate. */
const unknownCeilingTokens = 32_768
/** Compressed speech has at least about this many bytes per second; the hold for an upload is based on it. */
const leastAudioBytesPerSecond = 4_000
/**
 * Uncompressed stereo of the best common quality has at most this many bytes per second. So the size of an upload gives
 * its minimum length, whatever was transcribed.
 */
const mostAudioBytesPerSecond = 192_000

/** Prices a call by the upstream's name for the model. Throws GatewayError (model_not_priced, image errors). */
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
  if (call.mode === 'rerank' && sheet.basis === 'search') return searchCharging(call, sheet, groupRatio)
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
      return new TokenCharging(
        call,
        sheet,
        groupRatio,
        model,
        sliceTokens,
        (tier) => prices.tierRatio(tier, model, channelType),
        toolFees(call, prices, model, channelType),
      )
  }
}

/** A call that is charged by tokens. This is a class because thousands of streams are open at a time. */
class TokenCharging implements Charging {
  readonly sheet: PriceSheet
  readonly groupRatio: bigint
  readonly #choices: number
  readonly #generates: boolean
  /** The hold of a stream grows slice by slice if all of its output is visible. */
  readonly #isSliced: boolean
  /** The maximum number of tokens of one choice. */
  readonly #whole: number
  /** Completion tokens to hold quota for. */
  readonly #held: number
  /** Completion tokens that the call is assumed to want. */
  readonly #wanted: number
  /** Output other than text that the response may contain, if it is more expensive than text. */
  readonly #dear: DearOutput | undefined
  /** The number of tokens that the prompt may have if most of it cannot be seen; 0 = all of it can be seen. */
  readonly #openPrompt: number
  /** The multipliers of the requested service tier and region, in millionths, if they cost more than usual. */
  readonly #askedTier: bigint | undefined
  readonly #askedPlace: bigint | undefined
  /** Both multipliers combined. */
  readonly #tierRatio: bigint | undefined
  readonly #ratioOf: (tier: string) => bigint | undefined
  readonly tools: ToolFees | undefined
  /** Picoquota for tools, held in full in addition to the tokens. */
  readonly #fees: bigint

  constructor(
    call: RelayCall,
    sheet: PriceSheet,
    groupRatio: bigint,
    model: string,
    sliceTokens: number,
    ratioOf: (tier: string) => bigint | undefined,
    tools: ToolFees | undefined,
  ) {
    this.tools = tools
    this.#fees = tools?.held ?? 0n
    const { choices, maxTokens, stream, asksToReason, outputs, prompt, tier } = call.facts
    this.#ratioOf = ratioOf
    const tierParts = tier === undefined ? undefined : partsOf(tier)
    this.#askedTier = dearerRatio(tierParts?.tier, ratioOf)
    this.#askedPlace = dearerRatio(tierParts?.place, ratioOf)
    this.#tierRatio = both(this.#askedTier, this.#askedPlace)
    // The fee per request in a built-in price is the price of the model's search, which is known more precisely here.
    this.sheet = tools && searchesAlways(model) && sheet.source === 'default' ? { ...sheet, perCall: 0n } : sheet
    this.groupRatio = groupRatio
    this.#choices = choices
    this.#generates = call.mode === 'chat' || call.mode === 'completions'
    this.#whole = maxTokens ?? maxOutputTokens(model) ?? unknownCeilingTokens
    this.#dear = this.#generates ? dearOutput(sheet, outputs) : undefined
    // Quota for unseen reasoning is held, and the reasoning capped, as in a non-streamed call. The same applies to
    // audio and images, which arrive in large pieces.
    this.#isSliced = stream && !reasonsUnseen(model) && !asksToReason && !this.#dear
    this.#openPrompt = prompt.isOpenEnded ? contextTokens(model) : 0
    // Less than one token would be below the minimum with which a call may begin.
    const slice = Math.min(Math.max(1, sliceTokens), this.#whole)
    this.#held = this.#generates ? (this.#isSliced ? slice : this.#whole) * choices : 0
    // A call without a limit is not assumed to want all the tokens that the model could generate.
    this.#wanted = this.#generates ? Math.min(maxTokens ?? slice, this.#whole) * choices : 0
  }

  reserved(promptTokens: number): number {
    return promptTokens + this.#wanted
  }

  ceiling(promptTokens: number): number {
    const prompt = Math.max(promptTokens, this.#openPrompt)
    return chargeTokens(allOf(this.#dear, prompt, this.#held), this.sheet, this.groupRatio, this.#tierRatio, this.#fees)
  }

  least(promptTokens: number): number {
    return this.soFar(promptTokens, this.#generates ? this.#choices : 0)
  }

  soFar(promptTokens: number, completionTokens: number): number {
    const usage = { promptTokens, completionTokens }
    return chargeTokens(usage, this.sheet, this.groupRatio, this.#tierRatio, this.#fees)
  }

  paidTokens(units: number, promptTokens: number): number {
    const { sheet, groupRatio } = this
    return tokensAffordable(units, sheet, groupRatio, promptTokens, undefined, this.#tierRatio, this.#fees)
  }

  affordable(units: number, promptTokens: number): number | undefined {
    if (!this.#generates || this.#isSliced) return undefined
    const { sheet, groupRatio } = this
    const paid = tokensAffordable(units, sheet, groupRatio, promptTokens, this.#dear, this.#tierRatio, this.#fees)
    const tokens = Math.floor(paid / this.#choices)
    return tokens >= this.#whole ? undefined : Math.max(1, tokens)
  }

  charge({ usage, estimated, tools: calls }: Measure): Charge {
    const named = usage.tier === undefined ? undefined : partsOf(usage.tier)
    const tierRatio = both(this.#ratioIn(named?.tier, this.#askedTier), this.#ratioIn(named?.place, this.#askedPlace))
    const tools = calls && this.tools?.charge(calls)
    return {
      quota: chargeTokens(usage, this.sheet, this.groupRatio, tierRatio, tools?.fees),
      promptTokens: usage.promptTokens,
      completionTokens: usage.completionTokens,
      estimated,
      tierRatio,
      ...(tools?.note && { tools: tools.note }),
    }
  }

  /**
   * The multiplier of the tier or region that the response names. If it names none, or one without a multiplier, the
   * multiplier of the requested tier or region applies.
   */
  #ratioIn(name: string | undefined, requestedRatio: bigint | undefined): bigint | undefined {
    if (name === undefined) return requestedRatio
    return isUsualTier(name) ? undefined : (this.#ratioOf(name.toLowerCase()) ?? requestedRatio)
  }
}

/** The multiplier of a tier or region if it costs more than the usual one. Throws GatewayError (tier_not_priced). */
function dearerRatio(name: string | undefined, ratioOf: (name: string) => bigint | undefined): bigint | undefined {
  if (name === undefined || isUsualTier(name)) return undefined
  const ratio = ratioOf(name)
  if (ratio === undefined) {
    throw new GatewayError('tier_not_priced', `service tier ${name} has no price; leave it out`, {
      param: name.startsWith('geo-') ? 'inference_geo' : 'service_tier',
    })
  }
  return ratio > ratioOne ? ratio : undefined
}

/** Combines two multipliers, both in millionths. */
function both(one: bigint | undefined, other: bigint | undefined): bigint | undefined {
  return one === undefined || other === undefined ? (one ?? other) : (one * other) / ratioOne
}

/**
 * The hold of a session grows slice by slice, at the price of its most expensive output. Its usage is reported response
 * by response.
 */
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
    ceiling: (prompt) => price(prompt, Math.max(1, sliceTokens)),
    least: (prompt) => price(prompt, 1),
    soFar: price,
    paidTokens: (units, prompt) => tokensAffordable(units, sheet, groupRatio, prompt),
    affordable: () => undefined,
    charge: ({ usage, estimated, parts, beside = 0 }) => ({
      // The sum is rounded up once. But if the price depends on the length of the prompt, each response is priced by
      // the length of its own prompt.
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

function searchCharging(call: RelayCall, sheet: PriceSheet, groupRatio: bigint): Charging {
  const {
    query,
    documents,
    max_tokens_per_doc: tokensPerDocument,
  } = call.state.body.kind === 'json' ? call.state.body.json : {}
  const all = Array.isArray(documents) ? (documents as unknown[]) : []
  const each = Math.max(usualDocumentTokens, typeof tokensPerDocument === 'number' ? tokensPerDocument : 0)
  const tokensIn = (text: string) => quickEstimate({ texts: [text], fixedTokens: 0 })
  const guess = searchUnits(textOf(query), all.map(textOf), tokensIn, each)
  // An upper bound: a token has at least one byte, and the request may tell the service to read fields other than the
  // text.
  const most = () =>
    searchUnits(textOf(query), all.map(writtenOf), (text) => Buffer.byteLength(text), Number.POSITIVE_INFINITY)
  const priceOf = (units: number) => roundUp(sheet.perCall * BigInt(units) * groupRatio)
  const held = priceOf(guess)
  return fixedCharging(sheet, groupRatio, held, held, ({ usage, searches = 0 }) => {
    const isTold = searches >= 1 && (searches <= guess || searches <= most())
    return {
      quota: isTold ? priceOf(searches) : held,
      promptTokens: usage.promptTokens,
      completionTokens: usage.completionTokens,
      estimated: !isTold,
    }
  })
}

/**
 * The text of a query or document. A document without a text counts in full, because services differ in which fields
 * they read.
 */
function textOf(value: unknown): string {
  const text = isObject(value) ? value['text'] : undefined
  return typeof text === 'string' ? text : writtenOf(value)
}

function writtenOf(value: unknown): string {
  return typeof value === 'string' ? value : (tryStringify(value) ?? '')
}

function speechCharging(call: RelayCall, sheet: PriceSheet, groupRatio: bigint): Charging {
  const input = call.facts.prompt.texts[0] ?? ''
  const instructions =
    call.state.body.kind === 'json'
      ? call.state.body.json['instructions']
      : call.state.body.form.fields.get('instructions')
  const text = { input, instructions: typeof instructions === 'string' ? instructions : '' }
  const ceiling = speechCharge(text, sheet, groupRatio).quota
  return fixedCharging(sheet, groupRatio, ceiling, ceiling, ({ usage, estimated, cut }) =>
    // Speech that breaks off is useless, whether it arrives as events or as bytes.
    cut?.byUpstream ? nothing : speechCharge({ ...text, ...(!estimated && { usage }) }, sheet, groupRatio),
  )
}

function transcriptionCharging(call: RelayCall, sheet: PriceSheet, groupRatio: bigint): Charging {
  const bytes = call.state.body.kind === 'form' ? call.state.body.form.length : 0
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
