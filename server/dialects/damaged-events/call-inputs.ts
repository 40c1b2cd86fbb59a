import { isObject, tryParse } from '../../lib/json.ts'

/** The input of a call whose end has not come. */
interface OpenInput {
  text: string
  /** Words in place of JSON: nobody can tell whether they are whole. */
  readonly isFreeform: boolean
  /** An event was left out in the middle of it. */
  hasGap: boolean
}

/** Follows the inputs of calls, so that none is taken for whole that lacks what stood in an event that was left out. */
export class CallInputs {
  readonly #open = new Map<string, OpenInput>()

  /** A call begins. `call` tells it from the others. */
  begin(call: string, isFreeform: boolean): void {
    this.#open.set(call, { text: '', isFreeform, hasGap: false })
  }

  /** More of its input. */
  add(call: string, text: string): void {
    const input = this.#open.get(call)
    if (input) input.text += text
  }

  /** An event was left out. An input that was whole before it lacks nothing. */
  noteGap(): void {
    for (const input of this.#open.values()) input.hasGap ||= input.isFreeform || !isWhole(input)
  }

  /** The end of a call, or of all (`call` undefined); true when an input may lack what was left out. */
  end(call?: string): boolean {
    const ended = call === undefined ? [...this.#open.values()] : [this.#open.get(call)]
    if (call === undefined) this.#open.clear()
    else this.#open.delete(call)
    return ended.some((input) => input?.hasGap && (input.isFreeform || !isWhole(input)))
  }
}

function isWhole({ text }: OpenInput): boolean {
  return isObject(tryParse(text))
}
