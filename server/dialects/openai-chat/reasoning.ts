import type { JsonObject } from '../../lib/json.ts'
import { isObject } from '../../lib/json.ts'
import type { DialectName, ReasoningPart, Seal } from '../neutral/conversation.ts'
import { type Fields, looseList, looseText } from '../neutral/fields.ts'

/**
 * OpenAI's chat has no field for a model's reasoning. Services that show reasoning put the text into
 * `reasoning_content` (DeepSeek) or `reasoning`. They put state that must be sent back unchanged into
 * `reasoning_details` (OpenRouter's docs, "Preserving reasoning"). Its entries have the types reasoning.text,
 * reasoning.summary and reasoning.encrypted. Each entry has a `format`, which identifies the service.
 */
const formats: Readonly<Record<string, DialectName>> = {
  'anthropic-claude-v1': 'anthropic-messages',
  'google-gemini-v1': 'gemini',
  'openai-responses-v1': 'openai-responses',
  'azure-openai-responses-v1': 'openai-responses',
  'xai-responses-v1': 'openai-responses',
}

const formatOf: Readonly<Record<DialectName, string>> = {
  'anthropic-messages': 'anthropic-claude-v1',
  gemini: 'google-gemini-v1',
  'openai-responses': 'openai-responses-v1',
  'openai-chat': 'unknown',
}

interface Details {
  parts: ReasoningPart[]
  /** Signatures that belong to calls, by call id. */
  callSeals: Map<string, Seal>
  /** A signature that belongs to the answer's text. */
  textSeal: Seal | undefined
}

/** The reasoning in a message of a request. */
export function detailsIn(message: Fields): Details {
  const text = message.text('reasoning_content') ?? message.text('reasoning') ?? ''
  message.raw('reasoning')
  const details = readDetails(message.list('reasoning_details'))
  const isTold = details.parts.some((part) => part.text !== '')
  return isTold || text === '' ? details : { ...details, parts: [{ type: 'reasoning', text }, ...details.parts] }
}

/** `reasoning_details` as parts. Entries of the same reasoning block become one part. */
export function readDetails(list: unknown): Details {
  const parts: ReasoningPart[] = []
  const callSeals = new Map<string, Seal>()
  let textSeal: Seal | undefined
  for (const entry of looseList(list)) {
    const from = formats[looseText(entry['format'])] ?? 'openai-chat'
    const id = looseText(entry['id'])
    const data = looseText(entry['data']) || looseText(entry['signature'])
    const seal: Seal | undefined = data ? { from, value: data } : undefined
    const text = looseText(entry['text']) || looseText(entry['summary'])
    const last = parts.at(-1)
    if (entry['type'] === 'reasoning.encrypted') {
      if (!seal) continue
      if (from === 'gemini') {
        if (id) callSeals.set(id, seal)
        else textSeal = seal
      } else if (from === 'openai-responses' && last && !last.seal) parts.splice(-1, 1, { ...last, seal })
      else parts.push({ type: 'reasoning', text: '', redacted: true, seal })
    } else if (seal && text === '' && last && !last.seal) parts.splice(-1, 1, { ...last, seal })
    else if (text !== '' || seal) parts.push({ type: 'reasoning', text, ...(seal && { seal }) })
  }
  return { parts, callSeals, textSeal }
}

/** A reasoning part as `reasoning_details` entries. */
export function detailsOut(part: ReasoningPart, index: number): JsonObject[] {
  const { text, seal } = part
  const format = seal ? formatOf[seal.from] : 'unknown'
  // Anthropic's signature is in the same entry as the text. The state of hidden reasoning, or of OpenAI's reasoning, is
  // in a separate entry.
  if (seal && !part.redacted && seal.from !== 'openai-responses')
    return [{ type: 'reasoning.text', text, signature: seal.value, format, index }]
  const shown = {
    type: seal ? 'reasoning.summary' : 'reasoning.text',
    [seal ? 'summary' : 'text']: text,
    format,
    index,
  }
  const sealed = seal && { type: 'reasoning.encrypted', data: seal.value, format, index }
  return [...(text === '' ? [] : [shown]), ...(sealed ? [sealed] : [])]
}

/** The signature of a call, or of the text if `callId` is undefined, as an entry. */
export function sealOut(seal: Seal, callId: string | undefined, index: number): JsonObject {
  const entry = { type: 'reasoning.encrypted', data: seal.value, format: formatOf[seal.from], index }
  return callId === undefined ? entry : { ...entry, id: callId }
}

/** The text of a model's reasoning, from whichever field the service uses; undefined if there is none. */
export function thoughtOf(message: JsonObject): string | undefined {
  const text = message['reasoning_content'] ?? message['reasoning']
  if (typeof text === 'string') return text
  return isObject(text) ? looseText(text['content']) : undefined
}
