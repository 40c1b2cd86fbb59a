import { isObject, tryParse } from '../../lib/json.ts'

/** The input of a call that has not ended. */
interface OpenInput {
  text: string
  /** Freeform text instead of JSON: nobody can tell whether it is complete. */
  readonly isFreeform: boolean
  /** An event was skipped in the middle of it. */
  hasGap: boolean
}

/** Tracks the inputs of calls, so that an input that lacks a skipped event is never taken as complete. */
export class CallInputs {
  readonly #open = new Map<string, OpenInput>()

  /** A call begins. `call` identifies it. */
  begin(call: string, isFreeform: boolean): void {
    this.#open.set(call, { text: '', isFreeform, hasGap: false })
  }

  /** More of its input. */
  add(call: string, text: string): void {
    const input = this.#open.get(call)
    if (input) input.text += text
  }

  /** An event was skipped. An input that was already complete lacks nothing. */
  noteGap(): void {
    for (const input of this.#open.values()) input.hasGap ||= input.isFreeform || !isWhole(input)
  }

  /** The end of a call, or of all calls (`call` undefined); true if an input may lack a skipped event. */
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
