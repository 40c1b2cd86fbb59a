/** The price of speech and of transcription. */
import type { Usage } from '../../contract/usage.ts'
import { scaleDecimal } from '../lib/decimal.ts'
import { chargeTokens, type PriceSheet, roundUp } from './price.ts'

/**
 * A charge in quota. `estimated` is true if the upstream reported no measure and the text was used in place of the
 * audio.
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

/** All of these are optional. The most precise one that fits the model's price is used. */
export interface TranscriptionMeasure {
  /** Length of the audio. */
  readonly seconds?: number
  readonly usage?: Usage
  /** Tokens of the transcribed text. */
  readonly textTokens?: number
  /** End of the transcript's last cue. */
  readonly cueSeconds?: number
  /** Minimum length of the audio, derived from the size of the upload; 0 = unknown. */
  readonly leastSeconds?: number
}

/** Speech has about 15 UTF-8 bytes a second, in Latin script and in Chinese alike, and 1,250 audio tokens a minute. */
const speechTokensPer900Bytes = 1250
/**
 * OpenAI's models take the instructions separately from the text to be spoken. Other models have one text for both, and
 * may speak all of it.
 */
const speakInputAlone = /(?:^|\/)gpt-/
/** Speech has about 200 text tokens a minute, and a minute of audio is about 1,000 prompt tokens. */
const textTokensPerMinute = 200
const soundTokensPerMinute = 1000

const millisecondsPerHour = 3_600_000n

/**
 * The price of synthesised speech: per character (Unicode code point) for tts-1 and similar models, by tokens for
 * models that are priced by tokens. If the upstream reports no audio tokens, they are estimated from the text.
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
 * The price of a transcription: by the length of the audio for whisper-1 and similar models, by tokens for models that
 * report usage. If only the text is known, the length of the audio is estimated from the length of the text.
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
