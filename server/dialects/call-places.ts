import { isObject, type JsonObject, tryParse } from '../lib/json.ts'
import { looseCount, looseList, looseObject, looseText } from './fields.ts'

/** A call of one choice as far as it came. */
interface PlacedCall {
  /** Which of the choice's calls it is, from 0. */
  readonly place: number
  readonly number: number | undefined
  readonly id: string
  readonly name: string
  /** Its input so far, kept where nothing else tells one call from the next. */
  input: string
}

/**
 * Tells which call a piece of one belongs to, however the service marks it. Services leave `index` out, begin with 1, or
 * number all calls alike (Ollama's layer of OpenAI's form, Dynamo): then a new one has an id and a name of its own, or a name
 * where the last one's input is whole.
 */
export class CallPlaces {
  readonly #byNumber = new Map<number, PlacedCall>()
  readonly #byId = new Map<string, PlacedCall>()
  #last: PlacedCall | undefined
  #count = 0

  /** The place of the call that a member of `tool_calls` is of, and whether it begins with it. */
  of(call: JsonObject): { place: number; isNew: boolean } {
    const called = looseObject(call['function'] ?? call['custom'])
    const id = looseText(call['id'])
    const name = looseText(called['name'])
    const number = typeof call['index'] === 'number' ? looseCount(call['index']) : undefined
    const known = this.#known(number, id, name)
    const found = known ?? this.#begin(number, id, name)
    if (number === undefined && id === '') found.input += inputIn(called)
    return { place: found.place, isNew: known === undefined }
  }

  #known(number: number | undefined, id: string, name: string): PlacedCall | undefined {
    if (number === undefined) {
      if (id !== '') return this.#byId.get(id)
      return this.#last && goesOn(this.#last, name) ? this.#last : undefined
    }
    const latest = this.#byNumber.get(number)
    if (!latest || id === '' || id === latest.id) return latest
    const same = this.#byId.get(id)
    if (same?.number === number) return same
    return name === '' ? latest : undefined
  }

  #begin(number: number | undefined, id: string, name: string): PlacedCall {
    const call = { place: this.#count++, number, id, name, input: '' }
    if (number !== undefined) this.#byNumber.set(number, call)
    if (id !== '' && !this.#byId.has(id)) this.#byId.set(id, call)
    this.#last = call
    return call
  }
}

/** The id of a call that its service gave none. `seed`: the id of the answer, or another that no answer shares. */
export function unnamedCall(seed: string, choice: number, place: number): string {
  return `call_${seed}_${choice}_${place}`
}

/** Gives calls of a whole chat completion that have no id one; true when there were any. */
export function nameCalls(answer: JsonObject, idSeed: string): boolean {
  let hasNamed = false
  for (const [at, choice] of looseList(answer['choices']).entries()) {
    for (const [place, call] of looseList(looseObject(choice['message'])['tool_calls']).entries()) {
      if (looseText(call['id'])) continue
      call['id'] = unnamedCall(looseText(answer['id']) || idSeed, at, place)
      hasNamed = true
    }
  }
  return hasNamed
}

function inputIn(called: JsonObject): string {
  const input = called['arguments'] ?? called['input']
  return isObject(input) ? '{}' : looseText(input)
}

/** Without index and id, a piece that has a name is the next call's unless the last one's input still lacks its end. */
function goesOn(last: PlacedCall, name: string): boolean {
  if (name === '') return true
  return name === last.name && !isObject(tryParse(last.input))
}
