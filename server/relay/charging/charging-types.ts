import type { Usage } from '../../../contract/usage.ts'
import type { PriceSheet } from '../../billing/price.ts'
import type { ToolCounts } from '../../dialects/metering/tool-counts.ts'
import type { ToolFees } from './tool-fees.ts'

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
  /** Search units of a call for ranking where the answer tells. */
  searches?: number | undefined
  /** The answer was cut off: whole images that had come by then, and whether the upstream is to blame. */
  cut?: { images: number; byUpstream: boolean }
  /** Calls of tools that the service ran. */
  tools?: ToolCounts | undefined
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
  /** What tools that the service runs cost; absent = none is on. */
  readonly tools?: ToolFees | undefined
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
  /** The calls of tools that are in it; absent = none. */
  tools?: string | undefined
}

export const nothing: Charge = { quota: 0, promptTokens: 0, completionTokens: 0, estimated: false }

/** A call whose price is known, or bounded, before it is made. */
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
