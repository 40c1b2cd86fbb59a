import * as z from 'zod/mini'
import { isRepeatable } from '../../contract/api/list-query.ts'
import { inTime } from '../lib/body-time.ts'
import { contentCodingOf, decompressed } from '../lib/bytes/decompress.ts'
import { readAtMost } from '../lib/bytes/read-at-most.ts'
import { isObject } from '../lib/json.ts'
import { JsonFault, type JsonLimits, parseJson } from '../lib/parse-json.ts'
import type { Turns } from '../lib/turns.ts'
import { ApiFailure } from './api-failure.ts'

/** The maximum length of a request body for the management API, in bytes. */
const maxBodyBytes = 1024 * 1024
/**
 * The limits of a JSON body. They are far higher than any form of the console needs. They bound the time for checking
 * the body against a schema, which takes longer than parsing it.
 */
const jsonLimits: JsonLimits = { values: 20_000, containers: 5_000, names: 5_000, depth: 50 }
/** The maximum number of unknown fields that an error message lists. */
const listedNames = 5

/**
 * The value if it fits the schema. Otherwise, the first invalid field and its fault, in words that can follow the
 * field's name in a sentence.
 */
export type Checked<T> =
  | { ok: true; value: T }
  | { ok: false; path: readonly PropertyKey[]; fault: string; unknown: readonly string[] }

/**
 * Checks an input against a schema. If the fault is that the input has unknown fields, `unknown` contains their names.
 */
export function checkInput<S extends z.ZodMiniType>(schema: S, input: unknown): Checked<z.output<S>> {
  const result = z.safeParse(schema, input, { error: explain })
  if (result.success) return { ok: true, value: result.data }
  const issue = result.error.issues[0]
  if (!issue) return { ok: false, path: [], fault: 'is not valid', unknown: [] }
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys : []
  return { ok: false, path: issue.path, fault: faultOf(issue), unknown }
}

/** Parses a caller's input. Throws ApiFailure with a sentence that names the first invalid field. */
export function parseInput<S extends z.ZodMiniType>(schema: S, input: unknown, status: 200 | 400 = 200): z.output<S> {
  const result = z.safeParse(schema, input, { error: explain })
  if (result.success) return result.data
  const issue = result.error.issues[0]
  if (!issue) throw new ApiFailure('The input is not valid.', status)
  const [first] = issue.path
  // For a parameter that may be repeated, the message does not contain the index of the invalid value.
  const field = isRepeated(schema, first) ? String(first) : issue.path.join('.')
  throw new ApiFailure(`${field === '' ? 'The input' : field} ${faultOf(issue)}.`, status)
}

function isRepeated(schema: z.ZodMiniType, name: PropertyKey | undefined): boolean {
  if (!(schema instanceof z.ZodMiniObject) || name === undefined) return false
  const field = (schema.shape as Record<PropertyKey, object>)[name]
  return field !== undefined && isRepeatable(field)
}

/**
 * Throws ApiFailure if the input has fields that the schema does not name, and lists their paths. `ignored` contains
 * top-level fields of the body that are accepted anyway.
 */
export function refuseUnknown(
  schema: z.ZodMiniType,
  input: unknown,
  ignored: readonly string[] = [],
  status: 200 | 400 = 200,
): void {
  const unknown = unknownFields(schema, input, '').filter((name) => !ignored.includes(name))
  if (unknown.length > 0) throw new ApiFailure(`The input has unknown fields: ${listed(unknown)}.`, status)
}

/** The paths of the fields that the schema does not contain, including fields of nested objects. */
function unknownFields(schema: z.core.$ZodType, value: unknown, prefix: string): string[] {
  const { def } = schema._zod as { def: FieldDef }
  if (def.innerType) return unknownFields(def.innerType, value, prefix)
  if (def.element && Array.isArray(value))
    return value.flatMap((each, at) => unknownFields(def.element as z.core.$ZodType, each, `${prefix}${at}.`))
  const { shape } = def
  if (!shape || !isObject(value)) return []
  return Object.keys(value).flatMap((name) => {
    const member = Object.hasOwn(shape, name) ? shape[name] : undefined
    return member ? unknownFields(member, value[name], `${prefix}${name}.`) : [`${prefix}${name}`]
  })
}

/**
 * The parts of a schema's definition that `unknownFields` reads: the wrapped schema, the schema of a list's items, and
 * the fields of an object.
 */
interface FieldDef {
  readonly innerType?: z.core.$ZodType
  readonly element?: z.core.$ZodType
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>
}

/**
 * Reads a JSON body. An empty body counts as an empty object. If the body is refused, the response has the HTTP status
 * `status`. The body must arrive within `timeMs` milliseconds; 0 = no limit.
 */
export async function readJson(
  request: Request,
  { status, timeMs, turns }: { status: 200 | 400; timeMs: number; turns: Turns },
): Promise<unknown> {
  const bytes = await inTime(readBytes(request), timeMs, bodyTooSlow)
  if (isBlank(bytes)) return {}
  try {
    const { text, value } = await parseJson(bytes, { limits: jsonLimits, turns })
    // PostgreSQL's text type cannot store NUL, and no name or value needs it.
    if (text.includes('\\u0000')) throw new ApiFailure('The request body must not contain NUL characters.', status)
    // A database would replace a lone surrogate by another character.
    if (hasLoneSurrogate(text))
      throw new ApiFailure('The request body must not contain lone surrogates (halves of a character).', status)
    return value
  } catch (error) {
    if (error instanceof JsonFault) throw new ApiFailure(`The request body ${error.message}.`, status)
    throw error
  }
}

/**
 * Reads a text body that has one of the given content types or no content type. The body must arrive within `timeMs`
 * milliseconds.
 */
export async function readText(
  request: Request,
  { timeMs, types }: { timeMs: number; types: readonly string[] },
): Promise<string> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== undefined && !types.includes(type))
    throw new ApiFailure(`Send the content type ${types.join(' or ')}.`, 400)
  const bytes = await inTime(readBytes(request), timeMs, bodyTooSlow)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ApiFailure('The request body is not valid UTF-8.', 400)
  }
}

const loneSurrogate =
  /\\u[dD][89abAB][\da-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][\da-fA-F]{2})\\u[dD][c-fC-F][\da-fA-F]{2}/

/**
 * True if a JSON text contains a lone surrogate. Valid UTF-8 contains no surrogates, so only escapes such as `\ud800`
 * are searched. Escaped backslashes are removed first, so that the text `\\ud800` is not mistaken for an escape.
 */
function hasLoneSurrogate(json: string): boolean {
  return /\\u[dD]/.test(json) && loneSurrogate.test(json.replaceAll('\\\\', '  '))
}

/**
 * True if the body contains only ASCII white space. JSON allows space, tab, line feed and carriage return. Vertical tab
 * and form feed are accepted, too, because forms of old clients send them.
 */
function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 32 || (byte >= 9 && byte <= 13))
}

/** Reads the body. It never keeps more than the limit in memory, even if Content-Length is wrong. */
async function readBytes(request: Request): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBodyBytes) throw bodyTooLarge()
  const coding = contentCodingOf(request.headers, unknownCoding)
  const faults = {
    tooLarge: expandsTooFar,
    damaged: () => new ApiFailure(`The request body is not valid ${coding}.`, 400),
  }
  const body = coding === undefined || !request.body ? request.body : decompressed(request.body, coding, faults)
  try {
    return await readAtMost(body, maxBodyBytes, bodyTooLarge)
  } catch (error) {
    // The sender has disconnected. This is not a server error, so it is not logged.
    throw error instanceof ApiFailure ? error : new ApiFailure('The request body broke off.', 400)
  }
}

function unknownCoding(): ApiFailure {
  return new ApiFailure(
    'Compress the request body with one of gzip, deflate, br or zstd, or send it uncompressed.',
    400,
  )
}

function expandsTooFar(): ApiFailure {
  return new ApiFailure(
    'The request body expands to more than 100 times its compressed size: send it uncompressed.',
    413,
  )
}

function bodyTooLarge(): ApiFailure {
  return new ApiFailure('The request body is larger than 1 MiB.', 413)
}

function bodyTooSlow(): ApiFailure {
  return new ApiFailure('The request body did not arrive in time.', 408)
}

/**
 * The part of a message that follows the field's name. If the schema defines its own text, zod uses that text instead.
 */
function explain(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is missing'
      return issue.expected === 'int' ? 'must be a whole number' : `must be ${article(issue.expected)}`
    case 'too_big':
      return issue.origin === 'string'
        ? `may have at most ${issue.maximum} characters`
        : `must be ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}`
    case 'too_small':
      return issue.origin === 'string'
        ? `must have at least ${issue.minimum} characters`
        : `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`
    case 'invalid_value':
      return `must be ${issue.values.map((value) => (value === '' ? 'empty' : String(value))).join(' or ')}`
    case 'unrecognized_keys':
      return `has unknown fields: ${listed(issue.keys)}`
    default:
      return 'is not valid'
  }
}

function listed(names: readonly string[]): string {
  const more = names.length - listedNames
  return more > 0 ? `${names.slice(0, listedNames).join(', ')} and ${more} more` : names.join(', ')
}

function article(type: string): string {
  if (type === 'string') return 'text'
  if (type === 'boolean') return 'true or false'
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`
}

/**
 * The message of an issue. If a field accepts several forms, the message for the last form is used, because that is the
 * form that people enter.
 */
function faultOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_union') return issue.message
  return issue.errors.at(-1)?.[0]?.message ?? issue.message
}
