import { isObject, tryParse } from '../../lib/json.ts'

/** What the first bytes of a stream certainly contain; undefined = they must be parsed. */
export type Glance = 'speaks' | 'silent' | undefined

const eventStart = 'data: {'
/** Longest event that is scanned, in characters, and how many events at most. */
const shortEvent = 1024
const mostEvents = 4
const mostBytes = mostEvents * (shortEvent + 2)
/** The first two events are usually shorter than this. */
const usualBytes = 600
const someText = /"(?:content|reasoning_content|reasoning|text)": ?"[^"]/
/** One choice whose delta has only a role and empty texts, and no finish reason. */
const emptyChoice =
  /"choices": ?\[\{(?:"(?:index|logprobs|finish_reason)": ?(?:0|null), ?)*"delta": ?\{(?:"(?:role": ?"assistant|(?:content|refusal|reasoning_content|reasoning)": ?"(?="))"(?:, ?)?|"(?:content|refusal|reasoning_content|reasoning|tool_calls|function_call|audio)": ?null(?:, ?)?)*\}(?:, ?"(?:index|logprobs|finish_reason|native_finish_reason)": ?(?:0|null))*\}\]/
const someUsage = /"usage": ?\{/

/**
 * Recognises the common beginnings of OpenAI's streams without parsing: whole chunks without content, then one that
 * holds some text and nothing that could be an error. `silent`: the bytes end with a chunk without content.
 */
export function glanceAt(bytes: Uint8Array): Glance {
  let text = textOf(bytes, usualBytes)
  let at = 0
  for (let count = 0; count < mostEvents; count++) {
    let end = text.indexOf('\n\n', at)
    if (end < 0 && text.length === usualBytes) {
      text = textOf(bytes, mostBytes)
      end = text.indexOf('\n\n', at)
    }
    if (end < 0 || end - at > shortEvent) return undefined
    const event = text.slice(at, end)
    if (!event.startsWith(eventStart) || !event.endsWith('}') || event.includes('"error"')) return undefined
    if (event.includes('\n')) return undefined
    // Parse this one: something that only looks like an event would begin an answer that cannot continue.
    if (event.includes('"choices":[{') && someText.test(event))
      return isObject(tryParse(event.slice(eventStart.length - 1))) ? 'speaks' : undefined
    if (!emptyChoice.test(event) || someUsage.test(event)) return undefined
    at = end + 2
    if (at === bytes.length) return 'silent'
  }
  return undefined
}

/** The first bytes as text, each byte as one character. */
function textOf(bytes: Uint8Array, most: number): string {
  return Buffer.prototype.latin1Slice.call(bytes, 0, Math.min(bytes.length, most))
}
