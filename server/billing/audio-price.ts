/** The price of speech and of transcription. */
import type { Usage } from '../../contract/usage.ts'
import { scaleDecimal } from '../lib/decimal.ts'
import { chargeTokens, type PriceSheet, roundUp } from './price.ts'

/**
 * A charge in quota. `estimated` is true if the upstream did not report the quantity that is priced, so that it was
 * estimated from the text or from the length of the audio.
 */
export interface AudioCharge {
  readonly quota: number
  readonly estimated: boolean
  /** The quantities charged, for the log. Characters or milliseconds are recorded as prompt tokens. */
  readonly promptTokens: number
  readonly completionTokens: number
}

/** The text to be spoken, the instructions for speaking it, and the usage if the upstream reports it. */
export interface SpeechMeasure {
  readonly input: string
  readonly instructions?: string
  readonly usage?: Usage
}

/** The known measures of a transcription. The charge uses the most precise one that the model's price allows. */
export interface TranscriptionMeasure {
  /** The length of the audio. */
  readonly seconds?: number
  readonly usage?: Usage
  /** The number of tokens of the transcribed text. */
  readonly textTokens?: number
  /** The end time of the transcript's last subtitle, in seconds. */
  readonly cueSeconds?: number
  /** The minimum length of the audio, derived from the size of the upload; 0 = unknown. */
  readonly leastSeconds?: number
}

/**
 * A second of speech is about 15 UTF-8 bytes of text, in Latin script as well as in Chinese. A minute of speech is
 * 1,250 audio tokens.
 */
const speechTokensPer900Bytes = 1250
/**
 * Matches models that receive the instructions separately from the text to be spoken, such as OpenAI's. Other models
 * receive the instructions and the text as a single text, and may speak all of it.
 */
const speakInputAlone = /(?:^|\/)gpt-/
/** A minute of speech is about 200 text tokens, and a minute of audio is about 1,000 prompt tokens. */
const textTokensPerMinute = 200
const soundTokensPerMinute = 1000

const millisecondsPerHour = 3_600_000n

/**
 * The price of synthesised speech. tts-1 and similar models are priced by character (Unicode code point), other models
 * by token. If the upstream reports no usage, the tokens are estimated from the text.
 * @param groupRatio millionths
 */
export function speechCharge(
  { input, instructions = '', usage }: SpeechMeasure,
  sheet: PriceSheet,
  groupRatio: bigint,
): AudioCharge {
  if (sheet.basis !== 'tokens') return counted(characterCount(input), 0, sheet, groupRatio, false)
  if (usage) return fromUsage(usage, sheet, groupRatio)
  const inputBytes = Buffer.byteLength(input)
  const bytes = inputBytes + Buffer.byteLength(instructions)
  const spokenBytes = speakInputAlone.test(sheet.model) ? inputBytes : bytes
  const soundTokens = Math.ceil((spokenBytes * speechTokensPer900Bytes) / 900)
  return counted(Math.ceil(bytes / 3), soundTokens, sheet, groupRatio, true)
}

/**
 * The price of a transcription. whisper-1 and similar models are priced by the length of the audio, other models by
 * token. If the upstream reports neither usage nor the length, the length is estimated from the text.
 * @param groupRatio millionths
 */
export function transcriptionCharge(
  { seconds, usage, textTokens = 0, cueSeconds, leastSeconds = 0 }: TranscriptionMeasure,
  sheet: PriceSheet,
  groupRatio: bigint,
): AudioCharge {
  const estimatedSeconds = Math.max(leastSeconds, cueSeconds ?? Math.ceil((textTokens * 60) / textTokensPerMinute))
  if (sheet.basis === 'duration') {
    return soundCharge(seconds ?? estimatedSeconds, sheet, groupRatio, seconds === undefined, textTokens)
  }
  if (usage) return fromUsage(usage, sheet, groupRatio)
  const promptTokens = Math.ceil(((seconds ?? estimatedSeconds) * soundTokensPerMinute) / 60)
  const guess = { promptTokens, audioPromptTokens: promptTokens, completionTokens: textTokens }
  return { ...fromUsage(guess, sheet, groupRatio), estimated: true }
}

function soundCharge(
  seconds: number,
  sheet: PriceSheet,
  groupRatio: bigint,
  estimated: boolean,
  completionTokens: number,
): AudioCharge {
  const measured = scaleDecimal(String(seconds), 3)
  if (!measured || measured.value < 0n) throw new RangeError(`not a length of sound: ${seconds}`)
  const least = BigInt(sheet.minimumSeconds) * 1000n
  const milliseconds = measured.value > 0n && measured.value < least ? least : measured.value
  const charged = milliseconds === 0n ? 0n : sheet.perCall
  const quota = roundUp(
    (sheet.perHour * milliseconds + charged * millisecondsPerHour) * groupRatio,
    millisecondsPerHour,
  )
  return { quota, estimated, promptTokens: Number(milliseconds), completionTokens }
}

function fromUsage(usage: Usage, sheet: PriceSheet, groupRatio: bigint): AudioCharge {
  const { promptTokens, completionTokens } = usage
  return { quota: chargeTokens(usage, sheet, groupRatio), estimated: false, promptTokens, completionTokens }
}

function counted(
  promptTokens: number,
  completionTokens: number,
  sheet: PriceSheet,
  groupRatio: bigint,
  estimated: boolean,
): AudioCharge {
  const usage = { promptTokens, completionTokens, audioCompletionTokens: completionTokens }
  return { ...fromUsage(usage, sheet, groupRatio), estimated }
}

function characterCount(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}
