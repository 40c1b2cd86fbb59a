import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** One entry of the recordings' manifest. */
export interface RecordingEntry {
  readonly id: string
  readonly provider: string
  readonly api: string
  readonly model: string | null
  readonly stream: boolean
  readonly kind: 'json' | 'sse' | 'ndjson' | 'eventstream' | 'ws' | 'text' | 'binary'
  readonly status: number
  readonly features: readonly string[]
  readonly provenance: string
  readonly dir: string
}

/** Search criteria. A case must match every criterion that is given. */
export interface RecordingFilter {
  readonly id?: string | RegExp
  readonly provider?: string | readonly string[]
  readonly api?: string | readonly string[]
  readonly model?: string | RegExp
  readonly kind?: RecordingEntry['kind']
  readonly stream?: boolean
  /** A status, or 'ok' for statuses below 400, or 'error' for 400 and above. */
  readonly status?: number | 'ok' | 'error'
  /** Features that the case must have. */
  readonly features?: readonly string[]
  /** Features that the case must not have. */
  readonly without?: readonly string[]
  readonly provenance?: string | readonly string[]
  /** If true, keeps only cases whose source also contains the request. */
  readonly withRequest?: boolean
}

/** A case with its bytes. */
export interface RecordingCase extends RecordingEntry {
  readonly request: {
    readonly method: string
    readonly host: string
    readonly path: string
    readonly query: Readonly<Record<string, string | readonly string[]>>
    readonly headers: Readonly<Record<string, string>>
    readonly body: Uint8Array | undefined
  }
  readonly response: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: Uint8Array
  }
  /** The parsed request body. Undefined if there is none or it is not JSON. */
  readonly requestJson: unknown
  /** The parsed response body. Undefined if it is not a single JSON document. */
  readonly responseJson: unknown
  readonly responseText: string
  readonly notes: readonly string[]
}

/** A tool loop in several steps. */
interface RecordingSequence {
  readonly provider: string
  readonly api: string
  readonly stream: boolean
  readonly cases: readonly string[]
}

/** The folder of all recordings: RECORDINGS_DIR, or by default `../shared/recordings` next to the repository. */
const wholeSet = resolve(process.env.RECORDINGS_DIR ?? join(import.meta.dirname, '../../../../shared/recordings'))

/**
 * False on a machine without the recordings (see RECORDINGS_DIR). Tests that need a particular recording are skipped
 * there. All other tests use the sample in `test/recordings`, which was written from the documentation of the services.
 */
export const recordingsAvailable = existsSync(join(wholeSet, 'manifest.json'))

/** The minimum number of cases that a test must find: this many in the complete recordings, and one in the sample. */
export function leastCases(ofAll: number): number {
  return recordingsAvailable ? ofAll : 1
}

const recordingsDirectory = recordingsAvailable ? wholeSet : join(import.meta.dirname, '../../recordings')

const cache: { entries?: readonly RecordingEntry[]; sequences?: readonly RecordingSequence[] } = {}

/**
 * The matching cases, in the manifest's order: from the complete recordings, or from the sample if they are missing.
 */
export function listCases(filter: RecordingFilter = {}): readonly RecordingEntry[] {
  return entries().filter((entry) => matches(entry, filter))
}

/** The matching tool loops. */
export function listSequences(
  filter: { readonly provider?: string; readonly api?: string; readonly stream?: boolean } = {},
): readonly RecordingSequence[] {
  cache.sequences ??= readJson(join(recordingsDirectory, 'sequences.json')) as readonly RecordingSequence[]
  const same = (wanted: unknown, value: unknown) => wanted === undefined || wanted === value
  return cache.sequences.filter(
    (s) => same(filter.provider, s.provider) && same(filter.api, s.api) && same(filter.stream, s.stream),
  )
}

/** Reads a case, given its entry or id. */
export function loadCase(entryOrId: RecordingEntry | string): RecordingCase {
  const entry = typeof entryOrId === 'string' ? entries().find(({ id }) => id === entryOrId) : entryOrId
  if (!entry) throw new Error(`no recording ${String(entryOrId)} in ${recordingsDirectory}`)
  const folder = join(recordingsDirectory, entry.dir)
  const file = readJson(join(folder, 'case.json')) as CaseFile
  const names = readdirSync(folder)
  const bytes = (name: string | null | undefined) =>
    name && names.includes(name) ? new Uint8Array(readFileSync(join(folder, name))) : undefined
  const requestBody = bytes(file.request.body_file)
  const responseBody = bytes(file.response.body_file) ?? new Uint8Array(0)
  const { method, host, path, query, headers } = file.request
  return {
    ...entry,
    notes: file.notes,
    request: { method, host, path, query, headers, body: requestBody },
    response: { status: file.response.status, headers: file.response.headers, body: responseBody },
    requestJson: requestBody && parse(requestBody),
    responseJson: parse(responseBody),
    responseText: new TextDecoder().decode(responseBody),
  }
}

/** The data of each event of a recorded SSE response, with the lines of an event joined, including `[DONE]`. */
export function sseData(recorded: RecordingCase): string[] {
  const blocks = recorded.responseText.split(/\r\n\r\n|\n\n|\r\r/)
  return blocks.flatMap((block) => {
    const lines = block.split(/\r\n|\n|\r/).filter((line) => line.startsWith('data:'))
    return lines.length === 0 ? [] : [lines.map((line) => line.slice(line[5] === ' ' ? 6 : 5)).join('\n')]
  })
}

interface CaseFile {
  readonly request: {
    readonly method: string
    readonly host: string
    readonly path: string
    readonly query: RecordingCase['request']['query']
    readonly headers: Readonly<Record<string, string>>
    readonly body_file?: string | null
  }
  readonly response: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body_file?: string | null
  }
  readonly notes: readonly string[]
}

function entries(): readonly RecordingEntry[] {
  cache.entries ??= (readJson(join(recordingsDirectory, 'manifest.json')) as { cases: readonly RecordingEntry[] }).cases
  return cache.entries
}

function matches(entry: RecordingEntry, filter: RecordingFilter): boolean {
  const isOneOf = (wanted: string | readonly string[] | undefined, value: string) =>
    wanted === undefined || wanted === value || (typeof wanted !== 'string' && wanted.includes(value))
  const fits = (wanted: string | RegExp | undefined, value: string) =>
    wanted === undefined || (typeof wanted === 'string' ? wanted === value : wanted.test(value))
  const { status } = filter
  return (
    fits(filter.id, entry.id) &&
    fits(filter.model, entry.model ?? '') &&
    isOneOf(filter.provider, entry.provider) &&
    isOneOf(filter.api, entry.api) &&
    isOneOf(filter.provenance, entry.provenance) &&
    (filter.kind === undefined || filter.kind === entry.kind) &&
    (filter.stream === undefined || filter.stream === entry.stream) &&
    (status === undefined ||
      (status === 'ok' ? entry.status < 400 : status === 'error' ? entry.status >= 400 : entry.status === status)) &&
    (filter.features ?? []).every((feature) => entry.features.includes(feature)) &&
    !(filter.without ?? []).some((feature) => entry.features.includes(feature)) &&
    (!filter.withRequest ||
      readdirSync(join(recordingsDirectory, entry.dir)).some((name) => name.startsWith('request.')))
  )
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'))
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}
