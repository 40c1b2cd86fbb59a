import { unreadableMessage } from '../../lib/bytes/reframe.ts'

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
  /"type"\s*:\s*"(?:message_delta|[^"]*(?:arguments|input|tool|call|audio|signature|thinking)[^"]*)"/,
  /\[DONE/,
]

/** The names of members that tell what an event is of, where one of them may be what the event was cut off in. */
const weightyNames = [
  ...weighty
    .replaceAll('_?', '_')
    .split('|')
    // Names of events in frames, which are never cut within.
    .filter((name) => !/^(?:message|content|meta)/.test(name)),
  'type',
  'event',
]
const cutName = /[{,]\s*"(\w*)$/
/** A piece of text has begun in it. */
const someText =
  /"(?:content|text|delta|reasoning|reasoning_content)"\s*:\s*"|"type"\s*:\s*"(?:text_delta|content-delta|response\.output_text\.delta)"/

/** A type that was cut off, of a piece of content: where it was the content's beginning or end, the decoder misses that. */
const cutType = /"type"\s*:\s*"(?:content_b[a-z_]*|content-[a-z-]*|response\.o[a-z_.]*)$/

/** True for what may tell of more than a piece of text. */
function isWeighty(data: string): boolean {
  const end = data.slice(-100)
  const [, cut] = cutName.exec(end) ?? []
  if (cut && weightyNames.some((name) => name.startsWith(cut))) return true
  const rest = cutType.test(end) ? data.slice(0, data.lastIndexOf('"type"')) : data
  return signs.some((sign) => sign.test(rest))
}

/** Where in its answer an event stands. */
interface Where {
  /** Behind a reason to stop, where the usage is due. */
  readonly isLate?: boolean
  /** Behind a piece of a call. */
  readonly isCalling?: boolean
}

/**
 * Tells of each event of a stream that cannot be read whether the stream may go on without it. One may be left out in the
 * middle of an answer; not the first of all, nor two in a row, nor one that seems to hold more than a piece of text. While a call
 * is being told, what looks like JSON is one of its pieces unless it is a text.
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

  /** True once one was left out, whether or not anything came behind it. */
  get hasGap(): boolean {
    return this.count > 0 || this.#isOneOpen
  }

  /** True when `data` may be left out. */
  mayLeaveOut(data: string, { isLate = false, isCalling = false }: Where): boolean {
    if (!this.#hasBegun || this.#isOneOpen || data === unreadableMessage) return false
    if (isWeighty(data) || (isCalling && /[{}"]/.test(data) && !someText.test(data))) return false
    this.#isOneOpen = true
    this.hasLateGap ||= isLate
    return true
  }
}
