import { isObject, type JsonObject, stringify } from '../../lib/json.ts'
import { looseCount, looseList, looseObject, looseText } from '../neutral/fields.ts'

/** The call to which a streamed piece of a tool call belongs. */
export interface MatchedCall {
  /** The call's index within the choice, from 0. */
  readonly callIndex: number
  /** True if the call begins with this piece. */
  readonly isNew: boolean
  /** True if this piece is the first one with the call's name. */
  readonly isNamed: boolean
  /** The id with which the call began; '' = the service sent none at that point. */
  readonly firstId: string
}

/** A call of one choice, as received so far. */
interface CallSoFar {
  /** The call's index within the choice, from 0. */
  readonly callIndex: number
  id: string
  readonly firstId: string
  name: string
  /** Tracks whether the received input is complete. It is needed if the calls have no ids. */
  readonly input: InputEnd
}

/**
 * Finds the call to which a streamed piece of a tool call belongs. Some services omit `index`, start it at 1, or give
 * all calls the same index (Ollama's OpenAI-compatible API, Dynamo). A piece then begins a new call if it has a new id
 * and a name, or if it has a name and the input of the last call is already complete.
 */
export class CallMatcher {
  /** True after `repairCall` has changed a piece. From then on, repeated ids and names are removed. */
  isOdd = false
  readonly #byNumber = new Map<number, CallSoFar>()
  readonly #byId = new Map<string, CallSoFar>()
  #last: CallSoFar | undefined
  #count = 0

  /**
   * Finds the call to which an entry of `tool_calls` in a stream belongs. The first entry of a call need not contain
   * the call's name, because some services send the name later.
   */
  of(call: JsonObject): MatchedCall {
    const called = looseObject(call['function'] ?? call['custom'])
    const id = looseText(call['id'])
    const name = looseText(called['name'])
    const number = numberOf(call)
    const known = this.#known(number, id, name)
    const entry = known ?? { callIndex: this.#count++, id, firstId: id, name: '', input: new InputEnd() }
    const isNamed = entry.name === '' && name !== ''
    if (isNamed) entry.name = name
    if (entry.id === '') {
      // Some services send the id after the name.
      entry.id = id
      entry.input.add(called['arguments'] ?? called['input'])
    }
    if (number !== undefined) this.#byNumber.set(number, entry)
    if (id !== '' && !this.#byId.has(id)) this.#byId.set(id, entry)
    this.#last = entry
    return { callIndex: entry.callIndex, isNew: known === undefined, isNamed, firstId: entry.firstId }
  }

  #known(number: number | undefined, id: string, name: string): CallSoFar | undefined {
    const latest = number === undefined ? undefined : this.#byNumber.get(number)
    const same = id === '' ? undefined : this.#byId.get(id)
    if (latest && (id === '' ? goesOn(latest, name) : id === latest.id)) return latest
    // Pieces with the same id and different indexes belong to one call. A piece that has a name and a new index is an
    // exception: it begins another call.
    if (same && (number === undefined || latest || name === '')) return same
    if (latest && id !== '') return name === '' || (latest.id === '' && goesOn(latest, name)) ? latest : undefined
    if (latest || (number !== undefined && name !== '')) return undefined
    // Some services give each piece a different id, but only the first piece of a call has a name.
    const mayGoOn = id === '' || (number === undefined && name === '')
    return mayGoOn && this.#last && goesOn(this.#last, name) ? this.#last : undefined
  }
}

/** The service's index of a call. Some services write it as text. */
export function numberOf({ index }: JsonObject): number | undefined {
  if (typeof index === 'number') return looseCount(index)
  return typeof index === 'string' && /^\d{1,4}$/.test(index) ? Number(index) : undefined
}

/**
 * True if a piece that cannot be identified by its id belongs to this call. It does if it has no name, if the call has
 * no name yet, or if it repeats the call's name. A repeated name may also begin a new call, so it counts only if this
 * call has an id or its input is incomplete.
 */
function goesOn({ id, name: own, input }: CallSoFar, name: string): boolean {
  return name === '' || own === '' || (name === own && (id !== '' || !input.isWhole))
}

const quote = 34
const backslash = 92
const open = 123
const close = 125

/** Tracks whether the pieces of an input form a complete JSON object. Each character is read once. */
class InputEnd {
  isWhole = false
  #depth = 0
  #isText = false
  #isEscaped = false

  add(piece: unknown): void {
    if (isObject(piece)) this.isWhole = true
    else if (typeof piece === 'string') for (let at = 0; at < piece.length; at++) this.#step(piece.charCodeAt(at))
  }

  #step(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (this.#isText) {
      if (code === backslash) this.#isEscaped = true
      else if (code === quote) this.#isText = false
    } else if (code === quote) this.#isText = true
    else if (code === open) this.#depth++
    else if (code === close) {
      this.#depth--
      this.isWhole = this.#depth === 0
    }
  }
}

/**
 * An id for a call whose service sent none. `seed` is the id of the answer, or any other text that is unique to the
 * answer.
 */
export function unnamedCall(seed: string, choice: number, callIndex: number): string {
  return `call_${seed}_${choice}_${callIndex}`
}

/**
 * Changes a piece of a call to OpenAI's format: sets its index, adds an id (`newId`) if the call begins without one,
 * and converts the input to text. Many clients concatenate the values of a repeated field. A later id that differs from
 * the call's first id is therefore removed. After the first change, all repeated ids and names are removed. Returns
 * true if this piece or an earlier one (`isOdd`) was changed.
 */
export function repairCall(
  call: JsonObject,
  { callIndex, isNew, isNamed, firstId }: MatchedCall,
  isOdd: boolean,
  newId: () => string,
): boolean {
  const called = looseObject(call['function'] ?? call['custom'])
  const id = looseText(call['id'])
  let isRepaired = call['index'] !== callIndex
  call['index'] = callIndex
  if (isNew && id === '') {
    call['id'] = newId()
    isRepaired = true
  }
  if (!isNew && id !== '' && id !== firstId) isRepaired = true
  if (writeInput(called)) isRepaired = true
  const isOurs = isRepaired || isOdd
  if (isOurs && !isNew && id !== '') delete call['id']
  if (isOurs && !isNamed && looseText(called['name']) !== '') delete called['name']
  return isOurs
}

/** Converts an input that arrived as an object to text. Returns true if it was an object. */
function writeInput(called: JsonObject): boolean {
  const input = called['arguments']
  if (!isObject(input)) return false
  called['arguments'] = stringify(input)
  return true
}

/**
 * Adds missing ids to the calls of a non-streamed chat completion, and converts inputs that are objects to text.
 * Returns true if anything was changed.
 */
export function repairCalls(answer: JsonObject, idSeed: string): boolean {
  let isRepaired = false
  for (const [at, choice] of looseList(answer['choices']).entries()) {
    for (const [callIndex, call] of looseList(looseObject(choice['message'])['tool_calls']).entries()) {
      if (!looseText(call['id'])) {
        call['id'] = unnamedCall(looseText(answer['id']) || idSeed, at, callIndex)
        isRepaired = true
      }
      if (writeInput(looseObject(call['function']))) isRepaired = true
    }
  }
  return isRepaired
}
