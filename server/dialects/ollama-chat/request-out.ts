import type { JsonObject } from '../../lib/json.ts'
import { effortOf } from '../models/reasoning-effort.ts'
import type { Conversation, MediaPart, Message, Native, Part } from '../neutral/conversation.ts'
import type { EncodedRequest } from '../neutral/dialect.ts'
import { DroppedFields } from '../wire/dropped-fields.ts'
import { fromBase64 } from '../wire/media.ts'
import { plainTools } from '../wire/plain-tools.ts'
import { spelledOut } from '../wire/spelled-out.ts'
import { inputObject, wrapFreeform } from '../wire/tool-input.ts'

/**
 * A chat request for Ollama (API reference, "Generate a chat message"). Throws GatewayError for anything that cannot be
 * expressed.
 */
export function encodeRequest(original: Conversation): EncodedRequest {
  const conversation = spelledOut(original, 'ollama-chat')
  const dropped = new DroppedFields(conversation, 'ollama-chat', (field) => ownNames.includes(field))
  const own = ownFields(conversation.native)
  const { format, reasoning } = conversation
  const offer = plainTools(conversation, dropped)
  // Ollama has no tool choice, so tools that must not be called are not sent.
  const tools = offer.choice?.mode === 'none' ? [] : offer.tools
  const messages = messagesOut(conversation, dropped)
  const options = { ...optionsOut(conversation), ...(own['num_ctx'] !== undefined && { num_ctx: own['num_ctx'] }) }
  dropped.loseWishesBut(conversation, 'frequencyPenalty', 'presencePenalty', 'seed', 'stop')
  const mode = conversation.toolChoice?.mode
  dropped.lose('toolChoice', mode === 'auto' || mode === 'none' ? undefined : mode)
  const body: JsonObject = {
    model: conversation.model,
    messages,
    // The service streams by default.
    stream: conversation.stream,
    ...(tools.length > 0 && { tools }),
    ...(format && format.type !== 'text' && { format: format.type === 'schema' ? format.schema : 'json' }),
    ...(Object.keys(options).length > 0 && { options }),
    ...(reasoning && { think: thinkOut(conversation) }),
    ...(own['keep_alive'] !== undefined && { keep_alive: own['keep_alive'] }),
  }
  return { body, dropped: dropped.names }
}

const ownNames = ['num_ctx', 'keep_alive']

/** Ollama's own fields. Callers of any dialect may send them if they know that the upstream is Ollama. */
function ownFields(native: Native | undefined): JsonObject {
  return Object.fromEntries(Object.entries(native?.fields ?? {}).filter(([name]) => ownNames.includes(name)))
}

function optionsOut(conversation: Conversation): JsonObject {
  const all = {
    num_predict: conversation.maxTokens,
    temperature: conversation.temperature,
    top_p: conversation.topP,
    top_k: conversation.topK,
    frequency_penalty: conversation.frequencyPenalty,
    presence_penalty: conversation.presencePenalty,
    seed: conversation.seed,
    stop: conversation.stop && conversation.stop.length > 0 ? conversation.stop : undefined,
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

/**
 * The value that turns thinking on or off. OpenAI's open models accept a level instead, and their thinking cannot be
 * turned off.
 */
function thinkOut({ reasoning, model }: Conversation): boolean | string {
  const effort = reasoning && effortOf(reasoning)
  if (!model.includes('gpt-oss')) return effort !== 'none'
  if (effort === undefined) return true
  if (effort === 'medium') return 'medium'
  return effort === 'none' || effort === 'minimal' || effort === 'low' ? 'low' : 'high'
}

function messagesOut(conversation: Conversation, dropped: DroppedFields): JsonObject[] {
  const names = new Map<string, string>()
  for (const { parts } of conversation.messages)
    for (const part of parts) if (part.type === 'tool-call') names.set(part.id, part.name)
  for (const part of conversation.system) dropped.lose('cacheMark', part.cache)
  const system = conversation.system.map(({ text }) => text).join('\n\n')
  const messages = conversation.messages.flatMap((message) => messageOut(message, names, dropped))
  return system === '' ? messages : [{ role: 'system', content: system }, ...messages]
}

function messageOut(message: Message, names: ReadonlyMap<string, string>, dropped: DroppedFields): JsonObject[] {
  dropped.lose('speaker', message.name)
  const results = message.parts.flatMap((part): JsonObject[] => {
    if (part.type !== 'tool-result') return []
    dropped.lose('cacheMark', part.cache)
    const name = names.get(part.callId)
    const fields = contentOf(part.content, dropped)
    return [{ role: 'tool', ...fields, ...(name && { tool_name: name }), tool_call_id: part.callId }]
  })
  const others = message.parts.filter(({ type }) => type !== 'tool-result')
  if (others.length === 0) return results
  const calls = others.flatMap((part): JsonObject[] => {
    if (part.type !== 'tool-call') return []
    const input = part.freeform ? wrapFreeform(part.input) : inputObject(part.input)
    return [{ id: part.id, function: { name: part.name, arguments: input } }]
  })
  const thought = others.flatMap((part) => (part.type === 'reasoning' && !part.seal ? [part.text] : [])).join('')
  dropped.lose(
    'thought',
    others.find((part) => part.type === 'reasoning' && part.seal),
  )
  return [
    ...results,
    {
      role: message.role,
      ...contentOf(others, dropped),
      ...(thought !== '' && { thinking: thought }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ]
}

/** The text and images of a message. The service accepts one text per message, and the images in a separate field. */
function contentOf(parts: readonly Part[], dropped: DroppedFields): { content: string; images?: string[] } {
  const texts: string[] = []
  const images: string[] = []
  for (const part of parts) {
    if ('cache' in part) dropped.lose('cacheMark', part.cache)
    if (part.type === 'text' || part.type === 'refusal') texts.push(part.text)
    else if (part.type === 'media') addMedia(part, texts, images, dropped)
    else if (part.type === 'native') {
      if (part.text) texts.push(part.text)
      else dropped.foreign(part.value, 'message')
    }
  }
  return { content: texts.filter((text) => text !== '').join('\n'), ...(images.length > 0 && { images }) }
}

function addMedia(part: MediaPart, texts: string[], images: string[], dropped: DroppedFields): void {
  const { media, source } = part
  if (source.kind !== 'inline')
    dropped.refuse(part, source.kind === 'url' ? `${media} by URL` : 'a file stored at a service')
  if (media === 'image') images.push(source.data)
  else if (source.mediaType.startsWith('text/')) texts.push(fromBase64(source.data))
  else dropped.refuse(part, media)
}
