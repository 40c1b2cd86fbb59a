import { isObject, type JsonObject, stringify } from '../../lib/json.ts'
import { looseCount, looseList, looseObject, looseText } from '../neutral/fields.ts'

/** Where a piece of a call belongs. */
export interface Placed {
  /** Which of the choice's calls it is of, from 0. */
  readonly place: number
  /** The call begins with it. */
  readonly isNew: boolean
  /** The name of the call begins with it. */
  readonly isNamed: boolean
  /** The id with which the call began; '' = its service gave none then. */
  readonly firstId: string
}

/** A call of one choice as far as it came. */
interface PlacedCall {
  /** Which of the choice's calls it is, from 0. */
  readonly place: number
  id: string
  readonly firstId: string
  name: string
  /** Its input so far, kept where no id tells one call from the next. */
  readonly input: InputEnd
}

/**
 * Tells which call a piece of one belongs to, however the service marks it. Services leave `index` out, begin with 1, or
 * number all calls alike (Ollama's layer of OpenAI's form, Dynamo): then a new one has an id and a name of its own, or a name
 * where the last one's input is whole.
 */
export class CallPlaces {
  /** A piece had to be changed: those that follow tell no id and no name again. */
  isOdd = false
  readonly #byNumber = new Map<number, PlacedCall>()
  readonly #byId = new Map<string, PlacedCall>()
  #last: PlacedCall | undefined
  #count = 0

  /**
   * The place of the call that a member of `tool_calls` is of, whether it begins with it, and whether its name does, which some
   * services give later.
   */
  of(call: JsonObject): Placed {
    const called = looseObject(call['function'] ?? call['custom'])
    const id = looseText(call['id'])
    const name = looseText(called['name'])
    const number = numberOf(call)
    const known = this.#known(number, id, name)
    const found = known ?? { place: this.#count++, id, firstId: id, name: '', input: new InputEnd() }
    const isNamed = found.name === '' && name !== ''
    if (isNamed) found.name = name
    if (found.id === '') {
      // Some give the id behind the name.
      found.id = id
      found.input.add(called['arguments'] ?? called['input'])
    }
    if (number !== undefined) this.#byNumber.set(number, found)
    if (id !== '' && !this.#byId.has(id)) this.#byId.set(id, found)
    this.#last = found
    return { place: found.place, isNew: known === undefined, isNamed, firstId: found.firstId }
  }

  #known(number: number | undefined, id: string, name: string): PlacedCall | undefined {
    const latest = number === undefined ? undefined : this.#byNumber.get(number)
    const same = id === '' ? undefined : this.#byId.get(id)
    if (latest && (id === '' ? goesOn(latest, name) : id === latest.id)) return latest
    // One id may come under several numbers, but one that has a name and a number of its own is another call's.
    if (same && (number === undefined || latest || name === '')) return same
    if (latest && id !== '') return name === '' || (latest.id === '' && goesOn(latest, name)) ? latest : undefined
    if (latest || (number !== undefined && name !== '')) return undefined
    // Some give each piece an id of its own, and the first alone a name.
    const mayGoOn = id === '' || (number === undefined && name === '')
    return mayGoOn && this.#last && goesOn(this.#last, name) ? this.#last : undefined
  }
}

/** The number that the service gives a call; some write it as text. */
export function numberOf({ index }: JsonObject): number | undefined {
  if (typeof index === 'number') return looseCount(index)
  return typeof index === 'string' && /^\d{1,4}$/.test(index) ? Number(index) : undefined
}

/** True for a piece without an id that is of this call: it has no name or brings it, or has that of a call whose input still lacks its end. */
function goesOn({ id, name: own, input }: PlacedCall, name: string): boolean {
  return name === '' || own === '' || (name === own && (id !== '' || !input.isWhole))
}

const quote = 34
const backslash = 92
const open = 123
const close = 125

/** Whether an input that comes in pieces is a whole object; each character is looked at once. */
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

/** The id of a call that its service gave none. `seed`: the id of the answer, or another that no answer shares. */
export function unnamedCall(seed: string, choice: number, place: number): string {
  return `call_${seed}_${choice}_${place}`
}

/**
 * Numbers a piece of a call as OpenAI does, and names a call that has no id (`newId`); true when the piece was changed. An id or
 * a name that would be another one, or is told once more beside what was changed, is left out: many programs join texts of one
 * name.
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
  if (!isNew && id !== '' && id !== firstId) {
    delete call['id']
    isRepaired = true
  }
  if (isObject(called['arguments'])) {
    called['arguments'] = stringify(called['arguments'])
    isRepaired = true
  }
  const isOurs = isRepaired || isOdd
  if (isOurs && !isNew && id !== '') delete call['id']
  if (isOurs && !isNamed && looseText(called['name']) !== '') delete called['name']
  return isOurs
}

/** Gives calls of a whole chat completion the id, and the text of their input, that they lack; true when there were any. */
export function repairCalls(answer: JsonObject, idSeed: string): boolean {
  let isRepaired = false
  for (const [at, choice] of looseList(answer['choices']).entries()) {
    for (const [place, call] of looseList(looseObject(choice['message'])['tool_calls']).entries()) {
      const called = call['function']
      if (!looseText(call['id'])) {
        call['id'] = unnamedCall(looseText(answer['id']) || idSeed, at, place)
        isRepaired = true
      }
      if (isObject(called) && isObject(called['arguments'])) {
        called['arguments'] = stringify(called['arguments'])
        isRepaired = true
      }
    }
  }
  return isRepaired
}
