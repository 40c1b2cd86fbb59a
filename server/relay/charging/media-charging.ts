import { speechCharge, transcriptionCharge } from '../../billing/audio-price.ts'
import { chargeTokens, type PriceSheet, roundUp, tokensAffordable } from '../../billing/price.ts'
import { searchUnits, usualDocumentTokens } from '../../billing/search-price.ts'
import { isObject, tryStringify } from '../../lib/json.ts'
import type { RelayCall } from '../call/call.ts'
import { quickEstimate } from '../counting/quick-estimate.ts'
import { type Charging, fixedCharging, nothing } from './charging-types.ts'

/** Compressed speech has at least about this many bytes per second. The hold for an upload is based on this figure. */
const leastAudioBytesPerSecond = 4_000
/**
 * Uncompressed stereo of the best common quality has at most this many bytes per second. An upload is therefore at
 * least as long as its size divided by this figure, whatever was transcribed.
 */
const mostAudioBytesPerSecond = 192_000

/**
 * The charging of a WebSocket session. Its hold grows by `sliceTokens` tokens at a time, at the price of its most
 * expensive output. Its usage is reported after each response.
 */
export function sessionCharging(sheet: PriceSheet, groupRatio: bigint, sliceTokens: number): Charging {
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
      // The sum is rounded up once. If the price depends on the length of the prompt, each response is priced
      // separately, by the length of its own prompt.
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

/** A rerank call is charged by its search units. For the hold, they are estimated from the texts of the request. */
export function searchCharging(call: RelayCall, sheet: PriceSheet, groupRatio: bigint): Charging {
  const {
    query,
    documents,
    max_tokens_per_doc: tokensPerDocument,
  } = call.state.body.kind === 'json' ? call.state.body.json : {}
  const all = Array.isArray(documents) ? (documents as unknown[]) : []
  const each = Math.max(usualDocumentTokens, typeof tokensPerDocument === 'number' ? tokensPerDocument : 0)
  const tokensIn = (text: string) => quickEstimate({ texts: [text], fixedTokens: 0 })
  const guess = searchUnits(textOf(query), all.map(textOf), tokensIn, each)
  // An upper bound of the search units. It counts a token for each byte, and all fields of each document, because the
  // request can make the service read fields other than the text.
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
 * The text of a query or document. If a document has no `text`, all its fields count, because services differ in which
 * fields they read.
 */
function textOf(value: unknown): string {
  const text = isObject(value) ? value['text'] : undefined
  return typeof text === 'string' ? text : writtenOf(value)
}

function writtenOf(value: unknown): string {
  return typeof value === 'string' ? value : (tryStringify(value) ?? '')
}

/**
 * Speech is charged by the length of its text, which is known before the call, or by the usage that the upstream
 * reports.
 */
export function speechCharging(call: RelayCall, sheet: PriceSheet, groupRatio: bigint): Charging {
  const input = call.facts.prompt.texts[0] ?? ''
  const instructions =
    call.state.body.kind === 'json'
      ? call.state.body.json['instructions']
      : call.state.body.form.fields.get('instructions')
  const text = { input, instructions: typeof instructions === 'string' ? instructions : '' }
  const ceiling = speechCharge(text, sheet, groupRatio).quota
  return fixedCharging(sheet, groupRatio, ceiling, ceiling, ({ usage, estimated, cut }) =>
    // Truncated speech is useless, whether it arrives as events or as bytes, so it is free if the upstream is to blame.
    cut?.byUpstream ? nothing : speechCharge({ ...text, ...(!estimated && { usage }) }, sheet, groupRatio),
  )
}

/**
 * A transcription is charged by the length of its audio. The hold covers the longest audio that the upload can contain.
 */
export function transcriptionCharging(call: RelayCall, sheet: PriceSheet, groupRatio: bigint): Charging {
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
