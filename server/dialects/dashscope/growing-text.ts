/** So many events that begin with the one before, or so long a beginning, are no accident. */
const enoughSteps = 2
const enoughText = 8

/**
 * One text of a stream. It is asked for in pieces, but some models, and services in between, give the whole of it in
 * every event. Those begin each with the one before; until that is certain, nothing is passed on that only one way of
 * reading would give.
 */
export class GrowingText {
  #gives: 'pieces' | 'whole' | undefined
  #before = ''
  /** Length of what was passed on, where events give the whole. */
  #passed = 0
  #held: string[] = []
  #steps = 0

  /** The text of an event → what is new of it. */
  push(text: string, isLast: boolean): string {
    if (this.#gives === 'pieces') return text
    if (this.#gives === 'whole') return this.#rest(text)
    if (this.#before === '') {
      this.#before = text
      this.#passed = text.length
      return text
    }
    if (text === '' || !text.startsWith(this.#before)) {
      this.#gives = 'pieces'
      return this.#held.join('') + text
    }
    if (text.length > this.#before.length) this.#steps++
    const isCertain =
      isLast || this.#steps >= enoughSteps || (this.#steps > 0 && this.#before.trim().length >= enoughText)
    this.#before = text
    if (!isCertain) {
      this.#held.push(text)
      return ''
    }
    this.#gives = 'whole'
    return this.#rest(text)
  }

  #rest(text: string): string {
    if (text.length <= this.#passed) return ''
    const rest = text.slice(this.#passed)
    this.#passed = text.length
    return rest
  }
}
