import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Part } from '../conversation.ts'
import type { Frame } from '../dialect.ts'
import { looseList, looseText } from '../fields.ts'
import type { Reply, ReplyPart } from '../reply.ts'
import { readSeal, writeSeal } from '../seal.ts'
import { inputObject } from '../tool-input.ts'
import { citationOut, citationsIn } from './citations.ts'
import { thinkingOut } from './parts-out.ts'
import { stopIn, stopOut } from './stop.ts'
import { usageIn, usageOut } from './usage.ts'

const dialect = 'anthropic-messages'

/** A Message of Anthropic's (API reference, "Message"); without content it holds no answer. */
export function decodeReply(wire: JsonObject): Reply {
  const usage = usageIn(isObject(wire['usage']) ? wire['usage'] : undefined)
  return {
    ...(looseText(wire['id']) && { id: looseText(wire['id']) }),
    ...(looseText(wire['model']) && { model: looseText(wire['model']) }),
    choices: Array.isArray(wire['content'])
      ? [
          {
            parts: looseList(wire['content']).map(replyBlockIn),
            stop: stopIn(wire['stop_reason'], wire['stop_sequence']),
          },
        ]
      : [],
    ...(usage && { usage }),
  }
}

/** One block of an answer, or the start of one in a stream. */
export function replyBlockIn(block: JsonObject): ReplyPart {
  switch (block['type']) {
    case 'text':
      return { type: 'text', text: looseText(block['text']), ...citationsIn(block['citations']) }
    case 'thinking': {
      const signature = looseText(block['signature'])
      return {
        type: 'reasoning',
        text: looseText(block['thinking']),
        ...(signature && { seal: readSeal(signature, dialect) }),
      }
    }
    case 'redacted_thinking':
      return { type: 'reasoning', text: '', redacted: true, seal: readSeal(looseText(block['data']), dialect) }
    case 'tool_use': {
      const input = isObject(block['input']) ? block['input'] : {}
      const { type: _type, id: _id, name: _name, input: _input, ...rest } = block
      return {
        type: 'tool-call',
        id: looseText(block['id']),
        name: looseText(block['name']),
        input: JSON.stringify(input),
        ...(Object.keys(rest).length > 0 && { native: { dialect, fields: rest } }),
      }
    }
    default:
      return { type: 'native', dialect, value: block }
  }
}

/** A whole answer for an Anthropic caller: the first choice, which is all that the dialect knows. */
export function encodeReply(reply: Reply, frame: Frame): JsonObject {
  const choice = reply.choices[0]
  return {
    id: messageId(reply.id ?? frame.id),
    type: 'message',
    role: 'assistant',
    model: reply.model ?? frame.model,
    content: (choice?.parts ?? []).flatMap(replyBlocksOut),
    stop_reason: choice ? stopOut(choice.stop) : 'end_turn',
    stop_sequence: choice?.stop.sequence ?? null,
    usage: usageOut(reply.usage ?? { promptTokens: 0, completionTokens: 0 }),
  }
}

/** An answer's name as Anthropic would form it. */
export function messageId(id: string): string {
  return id.startsWith('msg_') ? id : `msg_${id}`
}

/** The blocks of one part; none for what the dialect cannot show. */
export function replyBlocksOut(part: Part): JsonObject[] {
  switch (part.type) {
    case 'text': {
      const citations = (part.citations ?? []).flatMap((each) => citationOut(each, part.text) ?? [])
      const text = { type: 'text', text: part.text, ...(citations.length > 0 && { citations }) }
      return [...sealOut(part.seal), ...(part.text === '' ? [] : [text])]
    }
    case 'reasoning':
      // A thought without a seal is shown all the same; it cannot go back as one.
      return [thinkingOut(part.text, part.redacted ?? false, part.seal ?? { from: dialect, value: '' })]
    case 'tool-call':
      return [...sealOut(part.seal), callOut(part)]
    case 'refusal':
      return [{ type: 'text', text: part.text }]
    case 'native':
      return part.dialect === dialect ? [part.value] : []
    case 'media':
      // What a model says aloud can at least be read.
      return part.transcript ? [{ type: 'text', text: part.transcript }] : []
    default:
      return []
  }
}

function callOut(part: Part & { type: 'tool-call' }): JsonObject {
  const rest = part.native?.dialect === dialect ? part.native.fields : {}
  return { type: 'tool_use', id: part.id, name: part.name, input: inputObject(part.input), ...rest }
}

/** Another service's state goes in a block of its own before its part: callers bring such blocks back unread. */
export function sealOut(seal: (Part & { type: 'text' })['seal']): JsonObject[] {
  return seal && seal.from !== dialect ? [{ type: 'redacted_thinking', data: writeSeal(seal, dialect, 'next') }] : []
}
