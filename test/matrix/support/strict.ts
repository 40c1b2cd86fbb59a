import { isObject, type JsonObject } from '../../../server/lib/json.ts'
import { sendJson } from '../../helpers/fake-upstream/reply.ts'
import { type Behaviour, behaviour, type RecordedRequest } from '../../helpers/fake-upstream.ts'
import { messagesFake } from './fakes/anthropic.ts'
import type { Fake, Said } from './fakes/fake.ts'
import { geminiFake } from './fakes/google.ts'
import { says } from './fakes/index.ts'
import { chatFake, responsesFake } from './fakes/openai.ts'
import type { Setup } from './rig.ts'

/** A channel to a service that refuses what the real service refuses, with the same wording. */
export interface StrictChannel {
  setup: Setup
  fake: Fake
  /** A signature that only this service can read. */
  seal: string
  /** Why the service would refuse a request. Undefined if it would not. */
  complaint(request: RecordedRequest, seal: string): string | undefined
}

const list = (value: unknown): JsonObject[] => (Array.isArray(value) ? (value as unknown[]).filter(isObject) : [])
const channel = (type: number, key: string, mapped: string): Setup => ({
  type,
  key,
  model_mapping: JSON.stringify({ 'any-model': mapped }),
})

/** The channels by name: one of each dialect, and a second account of each service that signs reasoning. */
export const strictChannels: Readonly<Record<string, StrictChannel>> = {
  anthropic: messages('ka1', 'EqQBCgIYAhIMc2VhbC1vbmU='),
  'anthropic elsewhere': messages('ka2', 'EqQBCgIYAhIMc2VhbC10d28='),
  responses: responses('kr1', 'gAAAAABseal-one'),
  'responses elsewhere': responses('kr2', 'gAAAAABseal-two'),
  gemini: gemini('kg1', 'CiQBc2VhbC1vbmU='),
  'gemini elsewhere': gemini('kg2', 'CiQBc2VhbC10d28='),
  chat: { setup: channel(28, 'kc1', 'mistral-large-latest'), fake: chatFake, seal: '', complaint: chatComplaint },
}

function messages(key: string, seal: string): StrictChannel {
  return { setup: channel(14, key, 'claude-sonnet-4-5'), fake: messagesFake, seal, complaint: messagesComplaint }
}

function responses(key: string, seal: string): StrictChannel {
  return { setup: channel(1, key, 'gpt-5.1-codex'), fake: responsesFake, seal, complaint: responsesComplaint }
}

function gemini(key: string, seal: string): StrictChannel {
  return { setup: channel(24, key, 'gemini-3-pro-preview'), fake: geminiFake, seal, complaint: geminiComplaint }
}

function messagesComplaint({ fields }: RecordedRequest, seal: string): string | undefined {
  const turns = list(fields['messages'])
  for (const [at, { role, content }] of turns.entries()) {
    if (content === '' || (Array.isArray(content) && content.length === 0))
      return `messages.${at}: all messages must have non-empty content`
    for (const [index, block] of list(content).entries()) {
      const place = `messages.${at}.content.${index}`
      if (block['type'] === 'text' && String(block['text']).trim() === '')
        return 'messages: text content blocks must contain non-whitespace text'
      if (block['type'] === 'thinking' && block['signature'] === undefined)
        return `${place}.thinking.signature: Field required`
      if (block['type'] === 'thinking' && block['signature'] !== seal)
        return `${place}: Invalid \`signature\` in \`thinking\` block`
      if (block['type'] === 'redacted_thinking') return `${place}: Invalid \`data\` in \`redacted_thinking\` block`
      if (role === 'user' && block['type'] === 'thinking') return `${place}: unexpected`
    }
  }
  const thinking = isObject(fields['thinking']) ? fields['thinking']['type'] : undefined
  const last = turns.at(-1)
  const asked = turns.findLastIndex(
    ({ role, content }) => role === 'user' && !list(content).some(({ type }) => type === 'tool_result'),
  )
  const first = turns.slice(asked + 1).find(({ role }) => role === 'assistant')
  const isLoop = last !== undefined && list(last['content']).some(({ type }) => type === 'tool_result')
  if (thinking === 'enabled' && isLoop && list(first?.['content'])[0]?.['type'] !== 'thinking')
    return 'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block'
  return undefined
}

function responsesComplaint({ fields }: RecordedRequest, seal: string): string | undefined {
  for (const item of list(fields['input'])) {
    if (item['type'] !== 'reasoning') continue
    const sealed = item['encrypted_content']
    if (sealed === undefined)
      return `Item with id '${String(item['id'])}' not found. Items are not persisted when \`store\` is set to false.`
    if (sealed !== seal)
      return `The encrypted content ${String(sealed).slice(0, 8)}... could not be verified. Reason: Encrypted content could not be decrypted or parsed.`
  }
  return undefined
}

function geminiComplaint({ fields }: RecordedRequest, seal: string): string | undefined {
  const known = new Set([seal, 'skip_thought_signature_validator'])
  const contents = list(fields['contents'])
  for (const [at, { role, parts }] of contents.entries()) {
    if (!Array.isArray(parts) || parts.length === 0)
      return `* GenerateContentRequest.contents[${at}].parts: contents.parts must not be empty.`
    const [call] = list(parts).filter((part) => 'functionCall' in part)
    if (list(parts).some((part) => 'thoughtSignature' in part && !known.has(String(part['thoughtSignature']))))
      return 'Thought signature is not valid.'
    if (role === 'model' && call && call['thoughtSignature'] === undefined)
      return 'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.'
  }
  return undefined
}

function chatComplaint({ fields }: RecordedRequest): string | undefined {
  const text = JSON.stringify(fields['messages'])
  return /tollgate|seal/.test(text) || text.includes(Buffer.from('{"tollgate').toString('base64').slice(0, 12))
    ? 'Extra inputs are not permitted'
    : undefined
}

/** Responds or refuses as the real service would. */
export function strictly({ fake, complaint, seal }: StrictChannel, said: Said): Behaviour {
  const answers = says(fake, seal === '' ? said : { ...said, seal })
  return behaviour('strictly', (exchange) => {
    const why = complaint(exchange.request, seal)
    if (why === undefined) return answers.run(exchange)
    const { status, body } = fake.refusal(400, why)
    return sendJson(exchange, status, body)
  })
}
