import { GatewayError } from '../../errors.ts'
import { inTime } from '../../lib/body-time.ts'
import { readAtMost } from '../../lib/bytes/read-at-most.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import { countPlainMembers, findTwice } from '../../lib/json-edit.ts'
import type { JsonOutline } from '../../lib/json-outline.ts'
import type { JsonShape } from '../../lib/json-scan.ts'
import { JsonFault, type ParsedJson, parseJson } from '../../lib/parse-json.ts'
import type { Turns } from '../../lib/turns.ts'
import type { DeadlineWait, DeadlineWatch } from '../cancellation/deadline-watch.ts'
import { shuttingDown } from '../cancellation/shutting-down.ts'
import { type BodyLimits, type BodySource, tooLarge, tooSlow } from './body-limits.ts'
import { jsonLimits } from './json-limits.ts'

/**
 * A body up to this length arrives with the request's headers or right after them. A separate timer for each short body
 * would cost more than reading it, so they share one timer.
 */
const shortBodyBytes = 64 * 1024

const modelMember = new TextEncoder().encode('"model"')

/**
 * Throws if `model`, which is the model named in the body, is reason enough to refuse the request. Called before a long
 * body is parsed.
 */
type Admit = (model: string | undefined) => Promise<void>

interface ReadDeps {
  readonly deadlineWatch: DeadlineWatch
  readonly turns: Turns
}

/**
 * A JSON body that has been read. If it has an outline (the body without its long texts), its text and value are
 * created on first access.
 */
export interface JsonBody {
  kind: 'json'
  readonly text: string
  readonly json: JsonObject
  /** The body without its long texts; absent = the body is short or has few long texts. */
  readonly outline?: JsonOutline
  /** The number of lists and objects in the body; absent = few. */
  containers?: number
  /** The models that the caller allows to answer, in order; absent = only the one in `model`. */
  models?: readonly string[]
}

/**
 * The fields of a body, for decisions that do not depend on long texts. The outline of a long body contains
 * placeholders instead of long texts. Data that is sent or stored must be read from `json` or written with
 * `JsonOutline.restored`.
 */
export function fieldsOf(body: JsonBody): JsonObject {
  return body.outline ? (body.outline.value as JsonObject) : body.json
}

/** The same body with different content. */
export function withContent(
  { kind, containers, models }: JsonBody,
  { json, text }: Pick<JsonBody, 'json' | 'text'>,
): JsonBody {
  return { kind, text, json, ...(containers !== undefined && { containers }), ...(models && { models }) }
}

/**
 * How to read a body: the check to make before a long body is parsed, and whether the body may be read as an outline.
 */
interface Reading {
  admit: Admit | undefined
  outlines?: boolean
}

/**
 * Reads and parses a JSON object body. Throws GatewayError request_too_large, request_timeout, request_too_complex,
 * invalid_json, and invalid_field_value for a repeated field. Before a long body is parsed, `admit` is called with the
 * model that it names.
 */
export async function readJson(
  source: BodySource,
  limits: BodyLimits,
  deps: ReadDeps,
  reading: Reading,
): Promise<JsonBody> {
  const bytes = await readBytes(source, limits, deps)
  const parsing = parse(bytes, deps.turns, reading)
  const parsed = parsing instanceof Promise ? await parsing : parsing
  const { shape } = parsed
  const { text, value } = parsed.outline ?? parsed
  if (!isObject(value)) throw new GatewayError('invalid_json', 'the request body must be a JSON object')
  refuseTwice(text, value, shape)
  const { containers } = shape
  return parsed.outline ? outlined(parsed.outline, containers) : { kind: 'json', text, json: value, containers }
}

function outlined(outline: JsonOutline, containers: number): JsonBody {
  return {
    kind: 'json',
    outline,
    containers,
    get text() {
      return outline.wholeText
    },
    get json() {
      return outline.whole as JsonObject
    },
  }
}

/** Can throw GatewayError synchronously, before it returns a promise. */
function parse(bytes: Uint8Array, turns: Turns, { admit, outlines }: Reading): ParsedJson | Promise<ParsedJson> {
  try {
    const parsing = parseJson(bytes, {
      limits: jsonLimits,
      turns,
      wanted: modelMember,
      admit: admit && ((scan) => admit(textOf(scan.wantedString))),
      outlines: outlines === true,
    })
    return parsing instanceof Promise ? parsing.catch(refuse) : parsing
  } catch (error) {
    return refuse(error)
  }
}

function refuse(error: unknown): never {
  if (!(error instanceof JsonFault)) throw error
  const code = error.kind === 'limit' ? 'request_too_complex' : 'invalid_json'
  throw new GatewayError(code, `the request body ${error.message}`, { cause: error })
}

function textOf(json: string | undefined): string | undefined {
  const value = json === undefined ? undefined : tryParse(json)
  return typeof value === 'string' ? value : undefined
}

/**
 * Refuses repeated fields. Parsers differ in which of the values they use, so the gateway could charge for one value
 * while the upstream serves another.
 */
function refuseTwice(text: string, json: JsonObject, shape: JsonShape): void {
  if (countPlainMembers(json) === shape.plainMembers) return
  const twice = findTwice(text)
  if (twice !== undefined)
    throw new GatewayError('invalid_field_value', `${twice} appears twice in the request`, { param: twice })
}

function readBytes(
  source: BodySource,
  limits: BodyLimits,
  watch: Pick<ReadDeps, 'deadlineWatch'>,
): Promise<Uint8Array> {
  const { declared, timeMs } = limits
  // The HTTP parser reads no more than the declared length, so the whole body can be read at once.
  if (declared <= shortBodyBytes && timeMs > 0) return readShort(source, timeMs, watch)
  const bytes = declared >= 0 ? source.bytes() : readAtMost(source.body, limits.bytes, () => tooLarge(limits.bytes))
  return inTime(bytes, timeMs, tooSlow).catch((error: unknown) => {
    throw faultOf(error)
  })
}

function faultOf(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error
  return new GatewayError('invalid_json', 'the request body ended early', { cause: error })
}

function readShort(
  source: BodySource,
  timeMs: number,
  { deadlineWatch }: Pick<ReadDeps, 'deadlineWatch'>,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      deadlineWatch.remove(wait)
      reject(faultOf(error))
    }
    const wait: DeadlineWait = {
      dueAtMs: deadlineWatch.nowMs() + timeMs,
      due: () => fail(tooSlow()),
      cut: () => fail(shuttingDown()),
    }
    deadlineWatch.add(wait)
    source.bytes().then((bytes) => {
      deadlineWatch.remove(wait)
      resolve(bytes)
    }, fail)
  })
}
