import { contextTokens, maxOutputTokens, reasonsUnseen } from '../../billing/model-limits.ts'
import {
  allOf,
  chargeTokens,
  type ExpensiveOutput,
  expensiveOutput,
  type PriceSheet,
  ratioOne,
  tokensAffordable,
} from '../../billing/price.ts'
import { searchesAlways } from '../../dialects/wire/hosted-tools.ts'
import { isUsualTier, partsOf } from '../../dialects/wire/service-tier.ts'
import { GatewayError } from '../../errors.ts'
import type { RelayCall } from '../call/call.ts'
import type { Charge, Charging, Measure } from './charging-types.ts'
import type { ToolFees } from './tool-fees.ts'

/** The maximum number of tokens that is assumed for a choice if neither the request nor the model has a known limit. */
const unknownCeilingTokens = 32_768

/**
 * The charging of a call by tokens. It is a class, whose instances share their methods, because thousands of streams
 * can be open at the same time.
 */
export class TokenCharging implements Charging {
  readonly sheet: PriceSheet
  readonly groupRatio: bigint
  cost: Charging | undefined
  readonly #choices: number
  readonly #generates: boolean
  /**
   * True if the hold grows in slices of `sliceTokens` output tokens. This requires a stream that shows all of its
   * output as it is generated.
   */
  readonly #isSliced: boolean
  /** The maximum number of tokens of one choice. */
  readonly #whole: number
  /** The number of completion tokens for which quota is held. */
  readonly #held: number
  /** The number of completion tokens that the call is assumed to generate. */
  readonly #wanted: number
  /** The kinds of output that the response may contain and that are more expensive than text. */
  readonly #expensive: ExpensiveOutput | undefined
  /** The maximum number of prompt tokens if the gateway cannot see the whole prompt; 0 = it sees the whole prompt. */
  readonly #openPrompt: number
  /** The multipliers of the requested service tier and region, in millionths, if they cost more than usual. */
  readonly #requestedTierRatio: bigint | undefined
  readonly #requestedRegionRatio: bigint | undefined
  /** The two multipliers above, combined. */
  readonly #tierRatio: bigint | undefined
  readonly #ratioOf: (tier: string) => bigint | undefined
  readonly tools: ToolFees | undefined
  /** Fees for tools, in picoquota. They are held in full, in addition to the quota for the tokens. */
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
    this.#requestedTierRatio = surchargeRatio(tierParts?.tier, ratioOf)
    this.#requestedRegionRatio = surchargeRatio(tierParts?.region, ratioOf)
    this.#tierRatio = both(this.#requestedTierRatio, this.#requestedRegionRatio)
    // In a built-in price, the fee per request is the price of the model's search. The tool fees are more precise, so
    // they replace it.
    this.sheet = tools && searchesAlways(model) && sheet.source === 'default' ? { ...sheet, perCall: 0n } : sheet
    this.groupRatio = groupRatio
    this.#choices = choices
    this.#generates = call.mode === 'chat' || call.mode === 'completions'
    this.#whole = maxTokens ?? maxOutputTokens(model) ?? unknownCeilingTokens
    this.#expensive = this.#generates ? expensiveOutput(sheet, outputs) : undefined
    // If the model's reasoning is hidden, quota for its whole output is held and the output is capped, as in a
    // non-streamed call. The same applies to audio and images, which arrive in large pieces, and to background
    // responses, whose output is not visible while it is generated.
    this.#isSliced = stream && !call.inBackground && !reasonsUnseen(model) && !asksToReason && !this.#expensive
    this.#openPrompt = prompt.isOpenEnded ? contextTokens(model) : 0
    // A slice has at least one token, because a call may begin only if the quota covers one token of output.
    const slice = Math.min(Math.max(1, sliceTokens), this.#whole)
    this.#held = this.#generates ? (this.#isSliced ? slice : this.#whole) * choices : 0
    // A call without a limit is assumed to generate one slice, not all the tokens that the model could generate.
    this.#wanted = this.#generates ? Math.min(maxTokens ?? slice, this.#whole) * choices : 0
  }

  reserved(promptTokens: number): number {
    return promptTokens + this.#wanted
  }

  ceiling(promptTokens: number): number {
    const prompt = Math.max(promptTokens, this.#openPrompt)
    return chargeTokens(
      allOf(this.#expensive, prompt, this.#held),
      this.sheet,
      this.groupRatio,
      this.#tierRatio,
      this.#fees,
    )
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
    const paid = tokensAffordable(units, sheet, groupRatio, promptTokens, this.#expensive, this.#tierRatio, this.#fees)
    const tokens = Math.floor(paid / this.#choices)
    return tokens >= this.#whole ? undefined : Math.max(1, tokens)
  }

  charge({ usage, estimated, tools: calls }: Measure): Charge {
    const named = usage.tier === undefined ? undefined : partsOf(usage.tier)
    const tierRatio = both(
      this.#ratioIn(named?.tier, this.#requestedTierRatio),
      this.#ratioIn(named?.region, this.#requestedRegionRatio),
    )
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
   * The multiplier of the tier or region that the response names. If the response names none, or one that has no
   * multiplier, the multiplier of the requested tier or region applies.
   */
  #ratioIn(name: string | undefined, requestedRatio: bigint | undefined): bigint | undefined {
    if (name === undefined) return requestedRatio
    return isUsualTier(name) ? undefined : (this.#ratioOf(name.toLowerCase()) ?? requestedRatio)
  }
}

/**
 * The multiplier of a tier or region that costs more than the usual one. Undefined for the usual one. Throws
 * GatewayError (tier_not_priced).
 */
function surchargeRatio(name: string | undefined, ratioOf: (name: string) => bigint | undefined): bigint | undefined {
  if (name === undefined || isUsualTier(name)) return undefined
  const ratio = ratioOf(name)
  if (ratio === undefined) {
    throw new GatewayError('tier_not_priced', `service tier ${name} has no price; omit it`, {
      param: name.startsWith('geo-') ? 'inference_geo' : 'service_tier',
    })
  }
  return ratio > ratioOne ? ratio : undefined
}

/** Combines two multipliers, both in millionths. */
function both(one: bigint | undefined, other: bigint | undefined): bigint | undefined {
  return one === undefined || other === undefined ? (one ?? other) : (one * other) / ratioOne
}
