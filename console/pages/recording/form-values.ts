import * as z from 'zod/mini'
import { captureSizes, longestRedaction, mostRedactions } from '../../../contract/api/capture.ts'
import { captureTargets } from '../../../contract/capture-targets.ts'

/** Kinds of data that can be removed, each with its own switch. */
export const kinds = ['email', 'card', 'phone', 'ip'] as const

/** Durations in minutes. */
export const durations = [15, 60, 240, 1440, 4320, 10_080] as const
/** Size limits for a body in KiB. */
export const sizes = [16, 64, 256, 1024, captureSizes.max / 1024] as const

/** The form's values. Choices are texts, as in the browser's controls. */
export interface RecordingValues {
  target: (typeof captureTargets)[number]
  /** An id. */
  target_id: string
  minutes: string
  kib: string
  email: boolean
  card: boolean
  phone: boolean
  ip: boolean
  words: string
}

/** The lines of the box with further texts. */
function linesOf(words: string): string[] {
  return words
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

const isLine = (line: string) =>
  line.length <= longestRedaction && !line.startsWith('@') && line.replaceAll('*', '') !== ''

function areLines(words: string): boolean {
  const lines = linesOf(words)
  return lines.length <= mostRedactions - kinds.length && lines.every(isLine)
}

/** The validation rules of the contract, applied to the form's values. */
export const recordingSchema = z.object({
  target: z.enum(captureTargets),
  target_id: z.string().check(z.regex(/^[1-9]\d*$/, 'recording.id.error')),
  minutes: z.string(),
  kib: z.string(),
  email: z.boolean(),
  card: z.boolean(),
  phone: z.boolean(),
  ip: z.boolean(),
  words: z.string().check(z.refine(areLines, 'recording.words.error')),
})

/** The texts to remove, in the server's format. */
export function redactionsOf(values: RecordingValues): string[] {
  return [...kinds.filter((kind) => values[kind]).map((kind) => `@${kind}`), ...linesOf(values.words)]
}
