/**
 * The service certainly repeats the whole text if `enoughSteps` events begin with the text of the previous event. One
 * such event is enough if the repeated text has at least `enoughText` characters.
 */
const enoughSteps = 2
const enoughText = 8

/**
 * One text of a stream. The gateway asks the service to send only the new piece of the text in each event. Some models
 * and intermediate services nevertheless repeat the whole text so far in every event. Until it is clear whether events
 * hold pieces or the whole text, only text that is correct in both cases is passed on.
 */
export class GrowingText {
  #gives: 'pieces' | 'whole' | undefined
  #before = ''
  /** If events hold the whole text, the length of the text passed on so far. */
  #passed = 0
  #held: string[] = []
  #steps = 0

  /** Returns the new part of an event's text. */
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
