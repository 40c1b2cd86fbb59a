import type { JsonObject } from '../../lib/json.ts'
import { looseList, looseObject, looseText } from '../neutral/fields.ts'
import { systemWords } from '../wire/system-as-user.ts'
import { cannotSay } from './chat-based.ts'

/** A tool call in a conversation. */
export interface TurnCall {
  readonly id: string
  readonly name: string
  readonly input: string
}

/** One turn of a text-only conversation. */
export interface Turn {
  readonly role: 'user' | 'assistant' | 'tool'
  readonly text: string
  /** The assistant's reasoning. */
  readonly thought?: string
  readonly calls?: readonly TurnCall[]
  /** The call to which a tool result belongs. */
  readonly call?: TurnCall
}

/** Placeholder text for a turn that a service requires but the conversation does not have. */
const filler = 'Okay'

/** The separator between texts that are joined. */
export const gap = '\n\n'

/**
 * Messages in OpenAI's format as texts. The system messages are returned separately. Throws GatewayError (400) for
 * content other than text.
 */
export function plainTurns(messages: readonly JsonObject[]): { system: string; turns: Turn[] } {
  const system: string[] = []
  const turns: Turn[] = []
  const calls = new Map<string, TurnCall>()
  for (const message of messages) {
    const text = textOf(message['content'])
    switch (message['role']) {
      case 'system':
      case 'developer':
        if (turns.length === 0) system.push(text)
        else turns.push({ role: 'user', text: systemWords(text) })
        break
      case 'assistant': {
        const toolCalls = looseList(message['tool_calls']).map(callOf)
        for (const call of toolCalls) calls.set(call.id, call)
        const thought = looseText(message['reasoning_content'])
        turns.push({ role: 'assistant', text: text || looseText(message['refusal']), calls: toolCalls, thought })
        break
      }
      case 'tool': {
        const id = looseText(message['tool_call_id'])
        turns.push({ role: 'tool', text, call: calls.get(id) ?? { id, name: id, input: '' } })
        break
      }
      default:
        turns.push({ role: 'user', text })
    }
  }
  return { system: system.join(gap), turns }
}

function callOf(call: JsonObject): TurnCall {
  const called = looseObject(call['function'] ?? call['custom'])
  const input = looseText(called['arguments'] ?? called['input'])
  return { id: looseText(call['id']), name: looseText(called['name']), input }
}

/** The text of a message's content. Throws GatewayError (400) for images and other media. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  const texts = looseList(content).map((part) => {
    const text = part['text'] ?? part['refusal']
    if (typeof text === 'string') return text
    throw cannotSay(`this channel supports only text, not parts of type ${looseText(part['type'])}`, 'messages.content')
  })
  return texts.join(gap)
}

/** Turns whose calls and results are written as text, for services that have no fields for them. */
export function textTurns(turns: readonly Turn[]): Turn[] {
  return turns.map((turn): Turn => {
    if (turn.role === 'tool') return { role: 'user', text: `Answer of ${turn.call?.name}: ${turn.text}` }
    const calls = (turn.calls ?? []).map(({ name, input }) => `I call ${name} with ${input || '{}'}.`)
    return { role: turn.role, text: [turn.text, ...calls].filter(Boolean).join(gap) }
  })
}

/**
 * Alternating turns of user and assistant, beginning with the user's. Consecutive turns of one role are joined into one
 * text, and empty turns are dropped.
 */
export function alternating(turns: readonly Turn[]): Turn[] {
  const out: Turn[] = []
  for (const turn of turns) {
    const last = out.at(-1)
    if (turn.text === '') continue
    if (last?.role === turn.role) out.splice(-1, 1, { ...last, text: last.text + gap + turn.text })
    else out.push(turn)
  }
  return out[0]?.role === 'assistant' ? [{ role: 'user', text: filler }, ...out] : out
}

/** The system prompt as an initial exchange, for services without system prompts. */
export function systemAsTurns(system: string): Turn[] {
  if (system === '') return []
  return [
    { role: 'user', text: system },
    { role: 'assistant', text: filler },
  ]
}

/** The assistant turn that is inserted between two turns that must not be adjacent. */
export const fillerTurn: Turn = { role: 'assistant', text: filler }
