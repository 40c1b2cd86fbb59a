import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject, tryStringify } from '../../lib/json.ts'
import type { PromptText } from '../dialect.ts'
import {
  charactersPerAudioToken,
  charactersPerDocumentToken,
  imageTokens,
  perMessage,
  perReply,
} from '../prompt-tokens.ts'

const perName = 1
/** An image at low detail (OpenAI's vision guide). */
const lowDetailImage = 85

/** Texts and fixed tokens of a chat request: messages, tool definitions and the response schema. */
export function chatPrompt(messages: unknown, body: JsonObject): PromptText {
  if (!Array.isArray(messages)) throw wrong('messages', 'a list of messages')
  const texts: string[] = []
  let fixedTokens = perReply
  let mediaTokens = 0
  for (const message of messages as unknown[]) {
    if (!isObject(message)) throw wrong('messages', 'a list of objects')
    if (typeof message['role'] !== 'string') throw wrong('messages', 'a list of objects that each have a role')
    fixedTokens += perMessage
    texts.push(message['role'])
    if (typeof message['name'] === 'string') {
      texts.push(message['name'])
      fixedTokens += perName
    }
    mediaTokens += addContent(message['content'], texts)
    for (const field of ['reasoning_content', 'refusal']) {
      const value = message[field]
      if (typeof value === 'string') texts.push(value)
    }
    for (const field of ['tool_calls', 'function_call']) {
      if (message[field]) texts.push(written(message[field], 'messages'))
    }
  }
  for (const field of ['tools', 'functions', 'response_format']) {
    if (isObject(body[field]) || Array.isArray(body[field])) texts.push(written(body[field], field))
  }
  const isOpenEnded = mediaTokens > 0 && (messages as JsonObject[]).some(({ content }) => namesMedia(content))
  return {
    texts,
    fixedTokens: fixedTokens + mediaTokens,
    hasMedia: mediaTokens > 0,
    ...(isOpenEnded && { isOpenEnded }),
  }
}

function written(value: unknown, field: string): string {
  const text = tryStringify(value)
  if (text === undefined) throw wrong(field, 'nested less deeply')
  return text
}

/** Adds the texts of one message's content; returns the tokens of its parts that are not text. */
function addContent(content: unknown, texts: string[]): number {
  if (typeof content === 'string') {
    texts.push(content)
    return 0
  }
  if (content === undefined || content === null) return 0
  if (!Array.isArray(content)) throw wrong('messages', 'messages whose content is text or a list of parts')
  let fixed = 0
  for (const part of content as unknown[]) {
    if (!isObject(part)) throw wrong('messages', 'messages whose content parts are objects')
    if (typeof part['text'] === 'string') texts.push(part['text'])
    // A medium stays one with a text beside it, be it an empty one.
    fixed += mediaTokensOf(part)
  }
  return fixed
}

/** Tokens of a part that is not text; 0 for parts that are no media either (thinking, tool results). */
function mediaTokensOf(part: JsonObject): number {
  if (part['type'] === 'image_url') return shownTokens(part['image_url'])
  if (isObject(part['input_audio'])) return sized(part['input_audio']['data'], charactersPerAudioToken)
  if (isObject(part['file'])) return sized(part['file']['file_data'], charactersPerDocumentToken)
  // Kinds that some services have besides: video_url, document_url, pdf_url, …
  const type = part['type']
  return typeof type === 'string' && /image|audio|video|file|document|pdf/.test(type) ? imageTokens : 0
}

/** True for content with a file, sound or video that is not in the request itself. Images are of bounded size. */
function namesMedia(content: unknown): boolean {
  return Array.isArray(content) && content.some((part) => isObject(part) && isNamed(part))
}

function isNamed(part: JsonObject): boolean {
  if (isObject(part['input_audio'])) return isAddress(part['input_audio']['data'])
  if (isObject(part['file'])) return isAddress(part['file']['file_data'])
  const type = part['type']
  return typeof type === 'string' && /audio|video|file|document|pdf/.test(type) && !type.startsWith('image')
}

/** In the place of the bytes: an address, or nothing. */
function isAddress(data: unknown): boolean {
  return typeof data !== 'string' || /^(https?|gs|s3|oss|file):/i.test(data)
}

function shownTokens(image: unknown): number {
  return isObject(image) && image['detail'] === 'low' ? lowDetailImage : imageTokens
}

function sized(data: unknown, charactersPerToken: number): number {
  return typeof data === 'string' ? Math.ceil(data.length / charactersPerToken) : imageTokens
}

/** Texts of a `prompt` or `input`: a string, a list of strings, token ids, lists of token ids, or content parts. */
export function textsOf(value: unknown, field: string): PromptText {
  if (typeof value === 'string') return { texts: [value], fixedTokens: 0 }
  if (!Array.isArray(value)) throw wrong(field, 'text or a list')
  const texts: string[] = []
  let fixedTokens = 0
  let mediaTokens = 0
  for (const item of value as unknown[]) {
    if (typeof item === 'string') texts.push(item)
    else if (typeof item === 'number') fixedTokens++
    else if (Array.isArray(item)) fixedTokens += item.length
    else if (isObject(item)) mediaTokens += addContent([item], texts)
    else throw wrong(field, 'a list of texts or token numbers')
  }
  const isOpenEnded = mediaTokens > 0 && namesMedia(value)
  return {
    texts,
    fixedTokens: fixedTokens + mediaTokens,
    hasMedia: mediaTokens > 0,
    ...(isOpenEnded && { isOpenEnded }),
  }
}

function wrong(field: string, expected: string): GatewayError {
  return new GatewayError('invalid_field_value', `${field} must be ${expected}`, { param: field })
}
