import { isObject, tryParse } from '../../lib/json.ts'

/** The input of a call that has not ended. */
interface OpenInput {
  text: string
  /** True if the input is freeform text instead of JSON. Nothing shows whether such text is complete. */
  readonly isFreeform: boolean
  /** True if an event was skipped in the middle of the input. */
  hasGap: boolean
}

/** Tracks the inputs of calls, so that an input with a piece missing is never treated as complete. */
export class CallInputs {
  readonly #open = new Map<string, OpenInput>()

  /** Begins a call. `call` identifies it. */
  begin(call: string, isFreeform: boolean): void {
    this.#open.set(call, { text: '', isFreeform, hasGap: false })
  }

  /** Adds more input to a call. */
  add(call: string, text: string): void {
    const input = this.#open.get(call)
    if (input) input.text += text
  }

  /** Records that an event was skipped. JSON input that was already complete has no gap. */
  noteGap(): void {
    for (const input of this.#open.values()) input.hasGap ||= input.isFreeform || !isWhole(input)
  }

  /**
   * Ends a call, or all calls if `call` is undefined. Returns true if a piece of an input may have been in a skipped
   * event.
   */
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
