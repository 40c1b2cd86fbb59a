import { isObject, tryParse } from '../../lib/json.ts'

/**
 * Checks whether a text that arrives in pieces is a JSON object. An object can end only where all its brackets are
 * closed for the first time. Each character is therefore read once, and the text is parsed at most once.
 */
export class ObjectScan {
  #depth = 0
  #inString = false
  #isEscaped = false
  #state: 'before' | 'within' | 'closed' | 'none' = 'before'
  #isObject: boolean | undefined

  add(text: string): void {
    for (let at = 0; at < text.length && this.#state !== 'none'; at++) {
      const char = text.charAt(at)
      if (this.#inString) this.#string(char)
      else this.#outside(char)
    }
  }

  /** True if the text added so far is a complete JSON object. `text` must be the text added so far. */
  isWhole(text: string): boolean {
    if (this.#state !== 'closed') return false
    this.#isObject ??= isObject(tryParse(text))
    return this.#isObject
  }

  #string(char: string): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (char === '\\') this.#isEscaped = true
    else if (char === '"') this.#inString = false
  }

  #outside(char: string): void {
    if (char === ' ' || char === '\n' || char === '\r' || char === '\t') return
    if (this.#state === 'closed' || (this.#state === 'before' && char !== '{')) this.#state = 'none'
    else if (char === '"') this.#inString = true
    else if (char === '{' || char === '[') {
      this.#state = 'within'
      this.#depth++
    } else if ((char === '}' || char === ']') && --this.#depth === 0) this.#state = 'closed'
  }
}
