import { isObject, tryStringify } from '../../lib/json.ts'
import { refuseScheme } from './address-scheme.ts'
import type { Conversation, MediaPart, Part } from './conversation.ts'
import type { PromptText, RequestFacts } from './dialect.ts'
import { wrongField } from './fields.ts'
import {
  charactersPerAudioToken,
  charactersPerDocumentToken,
  imageTokens,
  perMessage,
  perReply,
} from './prompt-estimate.ts'
import { choicesLimit, maxTokensLimit, modelLimit } from './request-limits.ts'

/**
 * The facts about a conversation that the gateway needs. Throws GatewayError for requests that no service can answer.
 */
export function factsOf(conversation: Conversation): RequestFacts {
  const { model, stream, wantsStreamUsage, maxTokens = 0, choices = 1 } = conversation
  if (model.length > modelLimit) throw wrongField('model', `no longer than ${modelLimit} characters`)
  if (maxTokens >= maxTokensLimit) throw wrongField('the limit of the response', `below ${maxTokensLimit} tokens`)
  if (choices < 1 || choices > choicesLimit) throw wrongField('the number of responses', `from 1 to ${choicesLimit}`)
  return {
    model,
    stream,
    wantsStreamUsage,
    maxTokens: maxTokens === 0 ? undefined : maxTokens,
    choices,
    ...(asksToReason(conversation) && { asksToReason: true }),
    ...(conversation.output && { outputs: conversation.output.modalities }),
    prompt: promptOf(conversation),
  }
}

function asksToReason({ reasoning }: Conversation): boolean {
  return reasoning !== undefined && reasoning.effort !== 'none' && reasoning.budgetTokens !== 0
}

function promptOf(conversation: Conversation): PromptText {
  const texts: string[] = []
  let mediaTokens = 0
  const add = (part: Part) => {
    mediaTokens += addPart(part, texts)
  }
  for (const part of conversation.system) add(part)
  for (const message of conversation.messages) {
    texts.push(message.role)
    if (message.name !== undefined) texts.push(message.name)
    for (const part of message.parts) add(part)
  }
  if (conversation.tools.length > 0) texts.push(written(conversation.tools, 'tools'))
  if (conversation.format?.type === 'schema')
    texts.push(written(conversation.format.schema, 'the schema of the answer'))
  return {
    texts,
    fixedTokens: perReply + perMessage * (conversation.messages.length + 1) + mediaTokens,
    hasMedia: mediaTokens > 0,
    ...((goesOn(conversation) || (mediaTokens > 0 && namesMedia(conversation))) && { isOpenEnded: true }),
  }
}

/** Fields that refer to an earlier conversation stored by the service. */
const keptPrompts = ['previous_response_id', 'conversation', 'prompt', 'cachedContent'] as const

function goesOn({ native, messages }: Conversation): boolean {
  const isKept = native !== undefined && keptPrompts.some((field) => isThere(native.fields[field]))
  return isKept || isContinued(native?.fields['thread']) || messages.some(({ parts }) => parts.some(isReference))
}

/** True if the request continues an Anthropic thread, whose earlier turns are stored by the service. */
function isContinued(thread: unknown): boolean {
  return isObject(thread) && thread['type'] === 'continue'
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

/** True for a reference by id to an item of an earlier answer, which is stored by the Responses API. */
function isReference(part: Part): boolean {
  return part.type === 'native' && part.dialect === 'openai-responses' && part.value['type'] === 'item_reference'
}

/**
 * True if the request refers to audio, video or a document by URL or id, because the length of such media is unknown.
 * Images do not count: their size is limited.
 */
function namesMedia({ messages }: Conversation): boolean {
  const isNamed = (part: Part): boolean =>
    part.type === 'tool-result'
      ? part.content.some(isNamed)
      : part.type === 'media' && part.media !== 'image' && part.source.kind !== 'inline'
  return messages.some(({ parts }) => parts.some(isNamed))
}

/** Adds the content of a part to `texts`. Returns the number of tokens of everything that is not text. */
function addPart(part: Part, texts: string[]): number {
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      texts.push(part.text)
      return 0
    case 'tool-call':
      texts.push(part.name, part.input)
      return 0
    case 'tool-result':
      return part.content.reduce((sum, each) => sum + addPart(each, texts), 0)
    case 'media':
      return mediaTokensOf(part)
    default:
      if (part.parts) return part.parts.reduce((sum, each) => sum + addPart(each, texts), 0)
      texts.push(part.text ?? written(part.value, 'a part of a message'))
      return 0
  }
}

function mediaTokensOf({ media, source }: MediaPart): number {
  if (source.kind === 'url') refuseScheme(source.url)
  const length = source.kind === 'inline' ? source.data.length : 0
  if (media === 'image' || length === 0) return imageTokens
  return Math.ceil(length / (media === 'document' ? charactersPerDocumentToken : charactersPerAudioToken))
}

function written(value: unknown, what: string): string {
  const text = tryStringify(value)
  if (text === undefined) throw wrongField(what, 'nested less deeply')
  return text
}
