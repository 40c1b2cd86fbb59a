import type { Usage } from '../../../contract/usage.ts'
import type { PriceSheet } from '../../billing/price.ts'
import type { ToolCounts } from '../../dialects/metering/tool-counts.ts'
import type { ToolFees } from './tool-fees.ts'

/** The usage of a call, in the units on which its price is based. */
export interface Measure {
  /** Tokens, as reported by the upstream or counted by the gateway. */
  usage: Usage
  /** True if the gateway counted the usage, false if the upstream reported it. */
  estimated: boolean
  /**
   * The usage of each response of a session, or of each attempt if a stream broke off and was continued. `usage` is
   * their sum.
   */
  parts?: readonly Usage[]
  /**
   * The cost, in quota units, of the separately priced features that a WebSocket session used in addition to its model.
   */
  beside?: number
  /** Length of transcribed audio, if the upstream reported it. */
  seconds?: number | undefined
  /** The end of the last cue of a transcript, which is about the length of the audio. */
  cueSeconds?: number | undefined
  /** The number of images in the response, if the response states it. */
  images?: number | undefined
  /** The search units of a rerank call, if the response states them. */
  searches?: number | undefined
  /** Set if the response is truncated: how many complete images had arrived, and whether the upstream is to blame. */
  cut?: { images: number; byUpstream: boolean }
  /** How often the upstream called each of its tools. */
  tools?: ToolCounts | undefined
  /** Set if the upstream failed before anything arrived. The call then costs nothing. */
  isFree?: true
}

/**
 * The price of one call to one model: how much to hold, and how much to charge. Kept from the hold until the call is
 * settled.
 */
export interface Charging {
  readonly sheet: PriceSheet
  readonly groupRatio: bigint
  /** The operator's cost of the same call, by the prices of the channel's upstream; absent if they are not known. */
  cost?: Charging | undefined
  /**
   * Units to hold for a prompt of the given number of tokens: enough for the whole call or, if the hold of a stream
   * grows with its output, enough for the first `PreConsumedQuota` tokens of output.
   */
  ceiling(promptTokens: number): number
  /** The fewest units with which it makes sense to begin the call: enough for the prompt and one token. */
  least(promptTokens: number): number
  /** Tokens that count against per-minute limits until the call ends: the prompt and the requested output. */
  reserved(promptTokens: number): number
  /** The cost, in units, of the prompt and the output so far. */
  soFar(promptTokens: number, completionTokens: number): number
  /** A lower bound of the number of completion tokens of a stream that `units` cover in addition to the prompt. */
  paidTokens(units: number, promptTokens: number): number
  /**
   * The number of completion tokens per choice that `units` cover in addition to the prompt; undefined = no limit is
   * needed.
   */
  affordable(units: number, promptTokens: number): number | undefined
  /** Fees for tools that the upstream runs; absent = no such tool is enabled. */
  readonly tools?: ToolFees | undefined
  /** The charge, and the token figures of the log row. */
  charge(measure: Measure): Charge
}

/** The charge, and what the log records about it. */
export interface Charge {
  quota: number
  promptTokens: number
  completionTokens: number
  estimated: boolean
  /** Multiplier of the service tier, in millionths; absent = one. */
  tierRatio?: bigint | undefined
  /** What the call costs the operator, in quota units; absent = not known. */
  cost?: number
  /** The tool calls that the charge includes; absent = none. */
  tools?: string | undefined
}

export const nothing: Charge = { quota: 0, promptTokens: 0, completionTokens: 0, estimated: false }

/** The charging of a call for which the price or a maximum price is known before the call is made. */
export function fixedCharging(
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
