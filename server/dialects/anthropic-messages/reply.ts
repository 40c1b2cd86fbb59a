import { isObject, type JsonObject, stringify } from '../../lib/json.ts'
import type { Part } from '../neutral/conversation.ts'
import type { Frame } from '../neutral/dialect.ts'
import { looseList, looseText } from '../neutral/fields.ts'
import type { Reply, ReplyPart } from '../neutral/reply.ts'
import { readSeal, writeSeal } from '../wire/thought-signature.ts'
import { inputObject } from '../wire/tool-input.ts'
import { citationsIn, citationsOut } from './citations.ts'
import { isDirect } from './parts-in.ts'
import { thinkingOut } from './parts-out.ts'
import { stopDetailsOut, stopIn, stopOut } from './stop.ts'
import { usageIn, usageOut } from './usage.ts'
import type { WireMessage, WireRedactedThinking, WireText, WireToolUse } from './wire.ts'

const dialect = 'anthropic-messages'

/** Reads an Anthropic Message (API reference, "Message"). If it has no content, the reply has no choices. */
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

/** One block of a response, or the start of one in a stream. */
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
      const { type: _type, id: _id, name: _name, input: _input, caller, ...others } = block
      // Other dialects have no `caller`. The default value, which means that the model itself made the call, is
      // dropped.
      const rest = isDirect(caller) ? others : { ...others, caller }
      return {
        type: 'tool-call',
        id: looseText(block['id']),
        name: looseText(block['name']),
        input: stringify(input),
        ...(Object.keys(rest).length > 0 && { native: { dialect, fields: rest } }),
      }
    }
    default:
      return { type: 'native', dialect, value: block }
  }
}

/**
 * A non-streamed response for an Anthropic caller. It contains only the first choice, because the dialect allows only
 * one.
 */
export function encodeReply(reply: Reply, frame: Frame): WireMessage {
  const choice = reply.choices[0]
  return {
    ...headOf(frame, reply.id, reply.model),
    content: (choice?.parts ?? []).flatMap(replyBlocksOut),
    stop_reason: choice ? stopOut(choice.stop) : 'end_turn',
    stop_sequence: choice?.stop.sequence ?? null,
    stop_details: choice ? stopDetailsOut(choice.stop) : null,
    usage: usageOut(reply.usage ?? { promptTokens: 0, completionTokens: 0 }),
  }
}

/** The head of a message, before any of its content is written. */
export function headOf(frame: Frame, id = frame.id, model = frame.model): Omit<WireMessage, 'usage'> {
  return {
    id: messageId(id),
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
  }
}

/** The id of a response, in the format of Anthropic's ids. */
function messageId(id: string): string {
  return id.startsWith('msg_') ? id : `msg_${id}`
}

/** The blocks of one part; empty if the dialect cannot express the part. */
export function replyBlocksOut(part: Part): JsonObject[] {
  switch (part.type) {
    case 'text': {
      const citations = citationsOut(part.citations, part.text)
      // For an empty text, the signature is dropped too. Client programs treat the last block as the answer, and this
      // could be the block with the signature.
      return part.text === '' ? [] : [...sealOut(part.seal, 'next'), textOut(part.text, citations)]
    }
    case 'reasoning':
      // Reasoning without a signature is still shown, but the caller cannot send it back as reasoning.
      return [thinkingOut(part.text, part.redacted ?? false, part.seal ?? { from: dialect, value: '' })]
    case 'tool-call':
      return [...sealOut(part.seal, 'next'), callOut(part)]
    case 'refusal':
      return [textOut(part.text)]
    case 'native':
      return part.dialect === dialect ? [part.value] : []
    case 'media':
      // This dialect has no audio, but the caller can read the transcript of the model's speech.
      return part.transcript ? [textOut(part.transcript)] : []
    default:
      return []
  }
}

/** A text block. */
export function textOut(text: string, citations: WireText['citations'] = null): WireText {
  return { type: 'text', text, citations }
}

function callOut(part: Part & { type: 'tool-call' }): WireToolUse {
  const rest = part.native?.dialect === dialect ? part.native.fields : {}
  const input = inputObject(part.input)
  // `direct` means that the model itself made the call, and not code that the model runs.
  return { type: 'tool_use', id: part.id, name: part.name, input, caller: { type: 'direct' }, ...rest }
}

/**
 * The signature that another service attached to a part, as a separate block next to the part. Callers send such blocks
 * back unchanged.
 */
export function sealOut(seal: (Part & { type: 'text' })['seal'], owner: 'next' | 'before'): WireRedactedThinking[] {
  return seal && seal.from !== dialect ? [{ type: 'redacted_thinking', data: writeSeal(seal, dialect, owner) }] : []
}
