import { unreadableMessage } from '../../lib/bytes/reframe.ts'

/**
 * Fields of events that must not be skipped. They mark an end, usage, an error, the input of a call, or content that is
 * only valid when complete.
 */
const weighty =
  'finish_?reason|stop_?reason|done_reason|usage|usage_?metadata|error|tool_calls|function_call|functionCall|' +
  'tool_?use|arguments|partial_json|input|thinking|signature|thought_?signature|encrypted_content|audio|inlineData|b64_json|' +
  'messageStart|messageStop|contentBlockStart|contentBlockStop|metadata'

/**
 * Patterns that show that an unreadable event holds more than a piece of text. A field does not count if it is null,
 * empty or cut off within `null`. If an event has a type, it is a piece of text only if the type is `text` or ends in
 * `delta`.
 */
const signs: readonly RegExp[] = [
  new RegExp(`"(?:${weighty})"\\s*:(?!\\s*(?:n|""|\\[\\s*\\]|\\{\\s*\\}))`, 'i'),
  /"done"\s*:\s*t/,
  /"type"\s*:\s*"(?!(?:[^"]*delta|text)")/,
  /"type"\s*:\s*"(?:message_delta|[^"]*(?:arguments|input|tool|call|audio|signature|thinking)[^"]*)"/,
  /\[DONE/,
]

/**
 * Names of fields that show what an event is about. They are used to recognize an event that was cut off within such a
 * name.
 */
const weightyNames = [
  ...weighty
    .replaceAll('_?', '_')
    .split('|')
    // These names occur only in events of binary streams, whose frames are never truncated.
    .filter((name) => !/^(?:message|content|meta)/.test(name)),
  'type',
  'event',
]
const cutName = /[{,]\s*"(\w*)$/
/** Matches an event in which a piece of text has begun. */
const someText =
  /"(?:content|text|delta|reasoning|reasoning_content)"\s*:\s*"|"type"\s*:\s*"(?:text_delta|content-delta|response\.output_text\.delta)"/

/**
 * Matches a truncated type that may be the type of a piece of content. The event may also be the start or the end of
 * the content. The decoder then detects that the start or the end is missing.
 */
const cutType = /"type"\s*:\s*"(?:content_b[a-z_]*|content-[a-z-]*|response\.o[a-z_.]*)$/

/** True for an event that may hold more than a piece of text. */
function isWeighty(data: string): boolean {
  const end = data.slice(-100)
  const [, cut] = cutName.exec(end) ?? []
  if (cut && weightyNames.some((name) => name.startsWith(cut))) return true
  const rest = cutType.test(end) ? data.slice(0, data.lastIndexOf('"type"')) : data
  return signs.some((sign) => sign.test(rest))
}

/** The position of an event in its answer. */
interface Where {
  /** True if the event came after a stop reason. At this position the usage is expected. */
  readonly isLate?: boolean
  /** True if the event came after a piece of a call. */
  readonly isCalling?: boolean
}

/**
 * Decides for each unreadable event of a stream whether the stream can continue without it. One event in the middle of
 * an answer may be skipped. The first event, the second of two in a row, and an event that seems to hold more than a
 * piece of text must not be skipped. During a call, anything that looks like JSON counts as a piece of the call unless
 * it contains a text.
 */
export class UnreadableEvents {
  /** The number of skipped events that were followed by a readable one. */
  count = 0
  /** True if a skipped event came after a stop reason, so it may have held the usage. */
  hasLateGap = false
  #hasBegun = false
  #isOneOpen = false

  /** Records that an event was read. */
  noteRead(): void {
    this.#hasBegun = true
    if (!this.#isOneOpen) return
    this.#isOneOpen = false
    this.count++
  }

  /** True once an event has been skipped, whether or not anything came after it. */
  get hasGap(): boolean {
    return this.count > 0 || this.#isOneOpen
  }

  /** True if `data` may be skipped. */
  mayLeaveOut(data: string, { isLate = false, isCalling = false }: Where): boolean {
    if (!this.#hasBegun || this.#isOneOpen || data === unreadableMessage) return false
    if (isWeighty(data) || (isCalling && /[{}"]/.test(data) && !someText.test(data))) return false
    this.#isOneOpen = true
    this.hasLateGap ||= isLate
    return true
  }
}
