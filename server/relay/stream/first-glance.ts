import { isObject, tryParse } from '../../lib/json.ts'

/** What the first bytes of a stream surely say; undefined = they must be read. */
export type Glance = 'speaks' | 'silent' | undefined

const eventStart = 'data: {'
/** Longest events that are looked through, and how many of them. */
const shortEvent = 1024
const mostEvents = 4
const someText = /"(?:content|reasoning_content|reasoning|text)": ?"[^"]/
/** One choice whose delta has a role, empty texts and nothing else, and no reason to stop. */
const emptyChoice =
  /"choices": ?\[\{(?:"(?:index|logprobs|finish_reason)": ?(?:0|null), ?)*"delta": ?\{(?:"(?:role": ?"assistant|(?:content|refusal|reasoning_content|reasoning)": ?"(?="))"(?:, ?)?|"(?:content|refusal|reasoning_content|reasoning|tool_calls|function_call|audio)": ?null(?:, ?)?)*\}(?:, ?"(?:index|logprobs|finish_reason|native_finish_reason)": ?(?:0|null))*\}\]/
const someUsage = /"usage": ?\{/

/**
 * The common beginnings of OpenAI's streams told without parsing: whole chunks that say nothing, and then one that holds some text
 * and nothing that could be an error. `silent`: the bytes end with such a chunk.
 */
export function glanceAt(bytes: Uint8Array): Glance {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  for (let count = 0; count < mostEvents; count++) {
    const end = view.indexOf('\n\n', at)
    if (end < 0 || end - at > shortEvent) return undefined
    const event = view.toString('latin1', at, end)
    if (!event.startsWith(eventStart) || !event.endsWith('}') || event.includes('"error"')) return undefined
    if (event.includes('\n')) return undefined
    // What only looks like an event would begin an answer that cannot go on.
    if (event.includes('"choices":[{') && someText.test(event))
      return isObject(tryParse(event.slice(eventStart.length - 1))) ? 'speaks' : undefined
    if (!emptyChoice.test(event) || someUsage.test(event)) return undefined
    at = end + 2
    if (at === view.length) return 'silent'
  }
  return undefined
}
