import { isObject, type JsonObject, stringify } from '../../lib/json.ts'
import { looseCount, looseList, looseObject, looseText } from '../neutral/fields.ts'

/** The call that a piece belongs to. */
export interface Placed {
  /** The call's index within the choice, from 0. */
  readonly place: number
  /** The call begins with this piece. */
  readonly isNew: boolean
  /** The name of the call begins with this piece. */
  readonly isNamed: boolean
  /** The id with which the call began; '' = its service sent none then. */
  readonly firstId: string
}

/** A call of one choice so far. */
interface PlacedCall {
  /** The call's index within the choice, from 0. */
  readonly place: number
  id: string
  readonly firstId: string
  name: string
  /** Its input so far, kept if there is no id to tell calls apart. */
  readonly input: InputEnd
}

/**
 * Tells which call a piece belongs to, however the service marks it. Services omit `index`, start at 1, or give all
 * calls the same one (Ollama's OpenAI-compatible API, Dynamo). A new call then has its own id and name, or a name after
 * the last call's input is complete.
 */
export class CallPlaces {
  /** A piece had to be changed: later pieces do not repeat id and name. */
  isOdd = false
  readonly #byNumber = new Map<number, PlacedCall>()
  readonly #byId = new Map<string, PlacedCall>()
  #last: PlacedCall | undefined
  #count = 0

  /**
   * The index of the call that an entry of `tool_calls` belongs to, whether the call begins with it, and whether its
   * name does, which some services send later.
   */
  of(call: JsonObject): Placed {
    const called = looseObject(call['function'] ?? call['custom'])
    const id = looseText(call['id'])
    const name = looseText(called['name'])
    const number = numberOf(call)
    const known = this.#known(number, id, name)
    const entry = known ?? { place: this.#count++, id, firstId: id, name: '', input: new InputEnd() }
    const isNamed = entry.name === '' && name !== ''
    if (isNamed) entry.name = name
    if (entry.id === '') {
      // Some send the id after the name.
      entry.id = id
      entry.input.add(called['arguments'] ?? called['input'])
    }
    if (number !== undefined) this.#byNumber.set(number, entry)
    if (id !== '' && !this.#byId.has(id)) this.#byId.set(id, entry)
    this.#last = entry
    return { place: entry.place, isNew: known === undefined, isNamed, firstId: entry.firstId }
  }

  #known(number: number | undefined, id: string, name: string): PlacedCall | undefined {
    const latest = number === undefined ? undefined : this.#byNumber.get(number)
    const same = id === '' ? undefined : this.#byId.get(id)
    if (latest && (id === '' ? goesOn(latest, name) : id === latest.id)) return latest
    // One id may come under several indexes, but with a name and a new index it is another call.
    if (same && (number === undefined || latest || name === '')) return same
    if (latest && id !== '') return name === '' || (latest.id === '' && goesOn(latest, name)) ? latest : undefined
    if (latest || (number !== undefined && name !== '')) return undefined
    // Some give each piece its own id, and only the first piece a name.
    const mayGoOn = id === '' || (number === undefined && name === '')
    return mayGoOn && this.#last && goesOn(this.#last, name) ? this.#last : undefined
  }
}

/** The service's index of a call; some write it as text. */
export function numberOf({ index }: JsonObject): number | undefined {
  if (typeof index === 'number') return looseCount(index)
  return typeof index === 'string' && /^\d{1,4}$/.test(index) ? Number(index) : undefined
}

/**
 * True for a piece without an id that belongs to this call: it has no name, brings the name, or repeats the name while
 * the call's input is incomplete.
 */
function goesOn({ id, name: own, input }: PlacedCall, name: string): boolean {
  return name === '' || own === '' || (name === own && (id !== '' || !input.isWhole))
}

const quote = 34
const backslash = 92
const open = 123
const close = 125

/** Whether an input that arrives in pieces is a complete object; each character is read once. */
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
 * An id for a call whose service sent none. `seed`: the id of the answer, or another text that no other answer shares.
 */
export function unnamedCall(seed: string, choice: number, place: number): string {
  return `call_${seed}_${choice}_${place}`
}

/**
 * Numbers a piece of a call as OpenAI does, and gives an id to a call that has none (`newId`); true if the piece was
 * changed. An id or name that would differ from the first one, or that repeats next to a change, is dropped: many
 * programs concatenate texts of the same field.
 */
export function repairCall(
  call: JsonObject,
  { place, isNew, isNamed, firstId }: Placed,
  isOdd: boolean,
  newId: () => string,
): boolean {
  const called = looseObject(call['function'] ?? call['custom'])
  const id = looseText(call['id'])
  let isRepaired = call['index'] !== place
  call['index'] = place
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

/** Writes an input that came as an object as text; true if it did. */
function writeInput(called: JsonObject): boolean {
  const input = called['arguments']
  if (!isObject(input)) return false
  called['arguments'] = stringify(input)
  return true
}

/** Adds missing ids and input texts to the calls of a whole chat completion; true if any were missing. */
export function repairCalls(answer: JsonObject, idSeed: string): boolean {
  let isRepaired = false
  for (const [at, choice] of looseList(answer['choices']).entries()) {
    for (const [place, call] of looseList(looseObject(choice['message'])['tool_calls']).entries()) {
      if (!looseText(call['id'])) {
        call['id'] = unnamedCall(looseText(answer['id']) || idSeed, at, place)
        isRepaired = true
      }
      if (writeInput(looseObject(call['function']))) isRepaired = true
    }
  }
  return isRepaired
}
