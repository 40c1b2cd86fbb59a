import { GatewayError } from '../../errors.ts'
import { inTime } from '../../lib/body-time.ts'
import { readAtMost } from '../../lib/bytes/read-at-most.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import { countPlainMembers, findTwice } from '../../lib/json-edit.ts'
import type { JsonShape } from '../../lib/json-scan.ts'
import { JsonFault, parseJson } from '../../lib/parse-json.ts'
import type { Turns } from '../../lib/turns.ts'
import type { DeadlineWait, DeadlineWatch } from '../cancellation/deadline-watch.ts'
import { shuttingDown } from '../cancellation/shutting-down.ts'
import { type BodyLimits, type BodySource, tooLarge, tooSlow } from './body-limits.ts'
import { jsonLimits } from './json-limits.ts'

/**
 * A body up to this length arrives with the request head or right after it. A timer for each such body would cost more
 * than reading it.
 */
const shortBodyBytes = 64 * 1024

const modelMember = new TextEncoder().encode('"model"')

/** Throws if a long body would be refused whatever else it contains. `model` is the model that the body names. */
type Admit = (model: string | undefined) => Promise<void>

interface ReadDeps {
  readonly deadlineWatch: DeadlineWatch
  readonly turns: Turns
}

/** A JSON body that has been read. */
export interface JsonBody {
  kind: 'json'
  text: string
  json: JsonObject
  /** The number of lists and objects in the body; absent = few. */
  containers?: number
  /** The models that its caller allows to answer, in order; absent = only the one in `model`. */
  models?: readonly string[]
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
  admit: Admit | undefined,
): Promise<JsonBody> {
  const bytes = await readBytes(source, limits, deps)
  const parsing = parse(bytes, deps.turns, admit)
  const { text, value, shape } = parsing instanceof Promise ? await parsing : parsing
  if (!isObject(value)) throw new GatewayError('invalid_json', 'the request body must be a JSON object')
  refuseTwice(text, value, shape)
  return { kind: 'json', text, json: value, containers: shape.containers }
}

/** Can throw GatewayError synchronously, before it returns a promise. */
function parse(bytes: Uint8Array, turns: Turns, admit: Admit | undefined) {
  try {
    const parsing = parseJson(bytes, {
      limits: jsonLimits,
      turns,
      wanted: modelMember,
      admit: admit && ((scan) => admit(textOf(scan.wantedString))),
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
 * Refuses repeated fields. Parsers differ in which of the two values they use, so one value could be charged and the
 * other served.
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
  // The HTTP parser enforces a declared length, so the whole body can be read at once.
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
