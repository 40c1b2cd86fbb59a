import type { Usage } from '../../../contract/usage.ts'
import { mediaTotal } from '../../dialects/metering/media-tokens.ts'
import type { MediaTokens, PromptText, StreamMeter } from '../../dialects/neutral/dialect.ts'
import { readUsage } from '../../dialects/openai-shared/openai-usage.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { RelayDeps } from '../call/deps.ts'
import type { Measure } from './charging-types.ts'
import { usageFault } from './check-usage.ts'
import type { OpenCall } from './settlement.ts'

/** The parts of a response from which its usage is determined. */
export interface Answer {
  /** The upstream's usage object, unchecked. */
  usage: JsonObject | undefined
  /** The usage in parsed form, if it has already been parsed. */
  reported?: Usage | undefined
  /** True if the usage arrived before any output was generated. */
  isEarly?: boolean | undefined
  /** Returns all generated output. Called only if the output must be counted. */
  output(): string
  /** The audio and image tokens of a conversation. */
  media?: MediaTokens | undefined
  /** Completion tokens that were certainly delivered, if the response is incomplete. */
  deliveredTokens?: number
}

/** The usage of a response and, if the upstream's own figures were rejected, the reason. */
export interface Measured {
  measure: Measure
  note: string | undefined
}

/** The measure of a call that fails before the first byte of the response. */
export const nothingCame: Measured = {
  measure: { usage: { promptTokens: 0, completionTokens: 0 }, estimated: false, isFree: true },
  note: undefined,
}

/** Returns the upstream's usage synchronously if it can be believed. Otherwise, counts the tokens. */
export function measure(deps: RelayDeps, open: OpenCall, answer: Answer): Measured | Promise<Measured> {
  const reported = withImages(answer.reported ?? readUsage(answer.usage), answer.media)
  const fault = reported && (usageFault(open, reported) ?? tooLittle(open, reported, answer))
  const seconds = secondsOf(answer.usage)
  const images = imagesOf(answer.usage)
  const extra = seconds === undefined && images === undefined ? undefined : { seconds, images }
  if (reported && fault === beforeTheEnd)
    return countCompletion(deps, open, reported, answer).then((usage) => ({
      measure: { usage, estimated: true, ...extra },
      note: `completion counted: usage of the upstream ${beforeTheEnd}`,
    }))
  if (reported && fault === undefined)
    return {
      measure: { usage: reported, estimated: false, ...extra },
      note: reported.doubt && `usage of the upstream doubtful: ${reported.doubt}`,
    }
  const refused = fault ?? (answer.usage && seconds === undefined ? 'not whole, or contradicting itself' : undefined)
  const tier = reported?.tier === undefined ? undefined : { tier: reported.tier }
  return countUsage(deps, open, answer.output(), answer.media).then((usage) => ({
    measure: { usage: { ...usage, ...tier }, estimated: true, ...extra },
    note: refused && `usage of the upstream refused: ${refused}`,
  }))
}

/**
 * The prompt usage reported by the upstream. It is valid no matter how much of the response arrives or is passed on.
 */
export function promptReport({
  usage,
  reported = readUsage(usage),
}: Pick<StreamMeter, 'usage' | 'reported'>): Usage | undefined {
  if (!reported) return undefined
  const { reasoningTokens: _, audioCompletionTokens: _sound, imageCompletionTokens: _images, ...prompt } = reported
  return { ...prompt, completionTokens: 0 }
}

const beforeTheEnd = 'reported before the end'

/**
 * Returns the reason if a reported usage is too low to be correct: it has zero tokens although there is content, or it
 * arrived before the end of the response.
 */
function tooLittle(open: OpenCall, reported: Usage, answer: Answer): string | undefined {
  const { promptTokens, completionTokens } = reported
  if (promptTokens === 0 && open.call.state.promptGuess > 0) return 'no prompt tokens'
  if (answer.isEarly) return beforeTheEnd
  if (completionTokens === 0 && (answer.output() !== '' || answer.media)) return 'no completion tokens'
  if (completionTokens < (answer.deliveredTokens ?? 0)) return beforeTheEnd
  return undefined
}

/**
 * Corrects the output of an early report. The upstream reads the whole prompt before it generates anything, so an early
 * report has the correct prompt and a lower bound for the output.
 */
async function countCompletion(deps: RelayDeps, open: OpenCall, reported: Usage, answer: Answer): Promise<Usage> {
  const counted = completionOf(await countOutput(deps, open, answer.output()), answer.media)
  return counted.completionTokens > reported.completionTokens ? { ...reported, ...counted } : reported
}

/**
 * Adds the image tokens to a report that does not list them, if images arrived. Audio tokens need not be added, because
 * services that sell audio list them.
 */
function withImages(reported: Usage | undefined, media: MediaTokens | undefined): Usage | undefined {
  if (!reported || !media || reported.imageCompletionTokens) return reported
  const { completionTokens, reasoningTokens = 0, audioCompletionTokens = 0 } = reported
  const images = Math.min(media.images, completionTokens - reasoningTokens - audioCompletionTokens)
  return images > 0 ? { ...reported, imageCompletionTokens: images } : reported
}

/** The usage fields for the given number of text tokens, plus audio and images. */
export function completionOf(textTokens: number, media: MediaTokens | undefined) {
  return {
    completionTokens: textTokens + mediaTotal(media),
    ...(media?.audio && { audioCompletionTokens: media.audio }),
    ...(media?.images && { imageCompletionTokens: media.images }),
  }
}

/** The prompt as sent upstream, including the system prompt that the channel adds. */
function promptOf({ call, channel, systemPromptReset }: OpenCall): PromptText {
  const { texts, fixedTokens } = call.facts.prompt
  return { texts: systemPromptReset ? [...texts, channel.systemPrompt] : texts, fixedTokens }
}

/** Counts prompt and output with the tokenizer. */
export async function countUsage(deps: RelayDeps, open: OpenCall, output: string, media?: MediaTokens): Promise<Usage> {
  const approximate = deps.settings().ApproximateTokenEnabled
  const [promptTokens, textTokens] = await Promise.all([
    deps.counter.count(open.upstreamModel, promptOf(open), approximate),
    countOutput(deps, open, output),
  ])
  return { promptTokens, ...completionOf(textTokens, media) }
}

function countOutput(deps: RelayDeps, open: OpenCall, output: string): number | Promise<number> {
  if (output === '') return 0
  const approximate = deps.settings().ApproximateTokenEnabled
  return deps.counter.count(open.upstreamModel, { texts: [output], fixedTokens: 0 }, approximate)
}

/**
 * The length of the audio in a usage such as `{ type: "duration", seconds }` (OpenAI API reference, "transcription
 * object").
 */
function secondsOf(usage: JsonObject | undefined): number | undefined {
  const seconds = usage?.['seconds'] ?? usage?.['duration'] ?? usage?.['prompt_audio_seconds']
  return typeof seconds === 'number' && seconds >= 0 && seconds < 1e6 ? seconds : undefined
}

/**
 * The number of images in a response from Volcengine. It is stated at the end of a stream (Volcengine API reference,
 * "generated_images").
 */
function imagesOf(usage: JsonObject | undefined): number | undefined {
  const images = usage?.['generated_images']
  return typeof images === 'number' && Number.isInteger(images) && images >= 0 && images < 1000 ? images : undefined
}
