/** This many events that begin with the one before, or a common beginning this long, cannot be a coincidence. */
const enoughSteps = 2
const enoughText = 8

/**
 * One text of a stream. It is requested in pieces, but some models and intermediate services send the whole text in
 * every event, so each event begins with the one before. Until that is certain, only text that both readings agree on
 * is passed on.
 */
export class GrowingText {
  #gives: 'pieces' | 'whole' | undefined
  #before = ''
  /** Length of the text passed on so far, if events hold the whole text. */
  #passed = 0
  #held: string[] = []
  #steps = 0

  /** The text of an event → the new part of it. */
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
