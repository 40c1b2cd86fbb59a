import { unreadableMessage } from '../lib/reframe.ts'

/** Members of an event that tell of an end, of usage, of an error, of a call's input, or of something that is only good as a whole. */
const weighty =
  'finish_?reason|stop_?reason|done_reason|usage|usage_?metadata|error|tool_calls|function_call|functionCall|' +
  'tool_?use|arguments|partial_json|input|thinking|signature|thought_?signature|encrypted_content|audio|inlineData|b64_json|' +
  'messageStart|messageStop|contentBlockStart|contentBlockStop|metadata'

/**
 * What an event that nobody can read may hold beyond a piece of text. A member that is null, empty or cut off in "null" says
 * nothing; an event that has a type is a piece of text only where that is called a delta.
 */
const signs: readonly RegExp[] = [
  new RegExp(`"(?:${weighty})"\\s*:(?!\\s*(?:n|""|\\[\\s*\\]|\\{\\s*\\}))`, 'i'),
  /"done"\s*:\s*t/,
  /"type"\s*:\s*"(?!(?:[^"]*delta|text)")/,
  /"type"\s*:\s*"(?:message_delta|[^"]*(?:arguments|input|audio|signature|thinking)[^"]*)"/,
  /\[DONE/,
]

/**
 * Tells of each event of a stream that cannot be read whether the stream may go on without it. One may be left out in the
 * middle of an answer; not the first of all, nor two in a row, nor one that seems to hold more than a piece of text.
 */
export class UnreadableEvents {
  /** How many were left out: those behind which something came that can be read. */
  count = 0
  /** One was left out that may have held the usage: it stood behind a reason to stop. */
  hasLateGap = false
  #hasBegun = false
  #isOneOpen = false

  /** An event was read. */
  noteRead(): void {
    this.#hasBegun = true
    if (!this.#isOneOpen) return
    this.#isOneOpen = false
    this.count++
  }

  /** True when `data` may be left out. `isLate`: an answer has given its reason to stop, so that the usage is due. */
  mayLeaveOut(data: string, isLate: boolean): boolean {
    if (!this.#hasBegun || this.#isOneOpen || data === unreadableMessage) return false
    if (signs.some((sign) => sign.test(data))) return false
    this.#isOneOpen = true
    this.hasLateGap ||= isLate
    return true
  }
}
