import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import { JsonScan } from '../../lib/json-scan.ts'

/**
 * Matches the type of an event if it is the first field or follows the event's id. OpenAI's servers and clients put it
 * in one of these positions.
 */
const typeAtStart = /^\s*\{\s*(?:"event_id"\s*:\s*"[^"\\]*"\s*,\s*)?"type"\s*:\s*"([^"\\]{1,100})"/

const typeMember = Buffer.from('"type"')
/**
 * Events with more characters than this are not parsed just to find their type. Parsing a long event with many small
 * values could take seconds.
 */
const parsedCharacters = 4_000

/** The type of an event; '' if it has none. Only a short event in an unusual format is parsed. */
export function eventType(text: string): string {
  const type = typeAtStart.exec(text.length > 400 ? text.slice(0, 400) : text)?.[1]
  if (type !== undefined) return type
  if (text.length > parsedCharacters) return scannedType(text)
  const event = tryParse(text)
  return isObject(event) && typeof event['type'] === 'string' ? event['type'] : ''
}

function scannedType(text: string): string {
  const bytes = Buffer.from(text)
  const scan = new JsonScan(bytes, typeMember)
  scan.step(bytes.length)
  const type = scan.wantedString === undefined ? undefined : tryParse(scan.wantedString)
  return typeof type === 'string' ? type : ''
}

/**
 * Types of events with pieces of a model's speech: events that contain text, and events that contain audio in base64.
 */
const textDeltas: ReadonlySet<string> = new Set([
  'response.text.delta',
  'response.output_text.delta',
  'response.audio_transcript.delta',
  'response.output_audio_transcript.delta',
  'response.function_call_arguments.delta',
  'response.mcp_call_arguments.delta',
])
const soundDeltas: ReadonlySet<string> = new Set(['response.audio.delta', 'response.output_audio.delta'])

/** The kind of content that an event of the upstream contains. */
export function deltaKind(type: string): 'text' | 'sound' | undefined {
  if (textDeltas.has(type)) return 'text'
  return soundDeltas.has(type) ? 'sound' : undefined
}

/** The id of the response that a delta belongs to; '' if the delta has none. */
export function responseIdOf(text: string): string {
  return /"response_id"\s*:\s*"([^"\\]{1,200})"/.exec(text)?.[1] ?? ''
}

/**
 * The raw string of an event's field, with its escapes; '' if there is none. Skips long values without reading them.
 */
export function writtenField(text: string, name: string): string {
  const start = new RegExp(`"${name}"\\s*:\\s*"`).exec(text)
  if (!start) return ''
  const from = start.index + start[0].length
  for (let at = from; ; at++) {
    at = text.indexOf('"', at)
    if (at < 0) return ''
    let slashes = 0
    while (text[at - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return text.slice(from, at)
  }
}

/** Decodes a raw string. */
export function readWritten(written: string): string {
  const read = tryParse(`"${written}"`)
  return typeof read === 'string' ? read : written
}

/** The number of bytes that a base64 text contains. */
export function bytesOfBase64(written: string): number {
  return Math.floor((written.length * 3) / 4)
}

/** Audio formats, in bytes per second. */
export interface SoundFormats {
  readonly input: number
  readonly output: number
}

const pcm = 48_000
const telephone = 8_000

/** The default audio format of a session: 16 bits at 24 kHz. */
export const usualSound: SoundFormats = { input: pcm, output: pcm }

/**
 * The audio formats of a session, in the format of either version of the API. A format that the session does not set
 * stays the same.
 */
export function soundFormats(session: unknown, before: SoundFormats): SoundFormats {
  if (!isObject(session)) return before
  const audio = isObject(session['audio']) ? session['audio'] : {}
  const side = (name: 'input' | 'output') => (isObject(audio[name]) ? audio[name]['format'] : undefined)
  return {
    input: bytesPerSecond(session['input_audio_format'] ?? side('input')) ?? before.input,
    output: bytesPerSecond(session['output_audio_format'] ?? side('output')) ?? before.output,
  }
}

/** The model that transcribes the caller's speech, in the format of either version of the API. */
export function transcriptionModel(session: unknown): string | undefined {
  if (!isObject(session)) return undefined
  const audio = isObject(session['audio']) ? session['audio'] : {}
  const input = isObject(audio['input']) ? audio['input'] : {}
  const transcription = session['input_audio_transcription'] ?? input['transcription']
  return isObject(transcription) && typeof transcription['model'] === 'string' ? transcription['model'] : undefined
}

function bytesPerSecond(format: unknown): number | undefined {
  const name = isObject(format) ? format['type'] : format
  if (typeof name !== 'string') return undefined
  return /g711|pcmu|pcma/.test(name) ? telephone : pcm
}

/** The content that a caller's event adds to the prompt: its texts, and the number of images. */
export function contentIn(text: string): { texts: string[]; images: number } {
  const content = { texts: [] as string[], images: 0 }
  const event = tryParse(text)
  if (isObject(event)) collect(event, content, 0)
  return content
}

/** Fields with text that the model reads. */
const readFields = ['text', 'transcript', 'instructions', 'arguments', 'output', 'description', 'name'] as const
/**
 * The maximum depth at which fields are read. The items of the API, their parts and items within these parts are never
 * nested more deeply.
 */
const deepest = 8

function collect(value: unknown, content: { texts: string[]; images: number }, depth: number): void {
  if (depth > deepest) return
  if (Array.isArray(value)) for (const each of value) collect(each, content, depth + 1)
  if (!isObject(value)) return
  if (value['type'] === 'input_image') content.images++
  for (const name of readFields) if (typeof value[name] === 'string') content.texts.push(value[name])
  for (const each of Object.values(value)) if (typeof each === 'object') collect(each, content, depth + 1)
}

/** The error event of the API (OpenAI Realtime API reference, "error"). */
export function errorEvent(eventId: string, error: JsonObject): string {
  return JSON.stringify({ type: 'error', event_id: eventId, error: { ...error, event_id: null } })
}

/** The event that makes the upstream stop generating its response. */
export const cancelEvent = JSON.stringify({ type: 'response.cancel' })
