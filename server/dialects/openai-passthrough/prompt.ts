import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { refuseScheme } from '../neutral/address-scheme.ts'
import type { PromptText } from '../neutral/dialect.ts'
import {
  charactersPerAudioToken,
  charactersPerDocumentToken,
  imageTokens,
  perMessage,
  perReply,
} from '../neutral/prompt-estimate.ts'

const perName = 1
/** The tokens of an image at low detail (OpenAI's vision guide). */
const lowDetailImage = 85

/** Fields of a request, besides the messages or the prompt, that a model reads in full. */
const readFields = new Set([
  'tools',
  'functions',
  'response_format',
  'prediction',
  'documents',
  'suffix',
  'instruction',
  'query',
])
/**
 * Fields for a model's reasoning. They come from OpenRouter and vLLM (`reasoning`), DeepSeek (`reasoning_content`),
 * Ollama (`thinking`) and OpenRouter (`reasoning_details`).
 */
const thoughtFields = ['reasoning', 'reasoning_content', 'thinking', 'reasoning_details']
/**
 * A model may or may not read an unknown field, so long fields are counted by their size. If the model reads such a
 * field, this count is too low. It is still close enough to the upstream's usage that the usage is accepted as
 * plausible.
 */
const bytesPerUnknownToken = 8
/** Unknown fields up to this size are assumed to be ids, markers and the like. */
const shortBytes = 4000

/** The content of a request as read so far. */
interface PromptTally {
  readonly texts: string[]
  fixedTokens: number
  mediaTokens: number
  isOpenEnded: boolean
  /** Bytes of unknown fields and of encrypted data. */
  unknownBytes: number
}

function emptyTally(): PromptTally {
  return { texts: [], fixedTokens: 0, mediaTokens: 0, isOpenEnded: false, unknownBytes: 0 }
}

function promptText({ texts, fixedTokens, mediaTokens, isOpenEnded, unknownBytes }: PromptTally): PromptText {
  const unknownTokens = unknownBytes > shortBytes ? Math.ceil(unknownBytes / bytesPerUnknownToken) : 0
  return {
    texts,
    fixedTokens: fixedTokens + mediaTokens + unknownTokens,
    hasMedia: mediaTokens > 0,
    ...(isOpenEnded && { isOpenEnded }),
  }
}

/** Texts and fixed tokens of a chat request: messages, tool definitions and the response schema. */
export function chatPrompt(messages: unknown, body: JsonObject): PromptText {
  if (!Array.isArray(messages)) throw wrong('messages', 'a list of messages')
  const tally = emptyTally()
  tally.fixedTokens = perReply
  for (const message of messages as unknown[]) {
    if (!isObject(message)) throw wrong('messages', 'a list of objects')
    if (typeof message['role'] !== 'string') throw wrong('messages', 'a list of objects that each have a role')
    addMessage(message, tally)
  }
  addRest(body, 'messages', tally)
  return promptText(tally)
}

function addMessage(message: JsonObject, tally: PromptTally): void {
  tally.fixedTokens += perMessage
  let thinks = false
  for (const field in message) {
    const value = message[field]
    switch (field) {
      case 'role':
        tally.texts.push(value as string)
        break
      case 'content':
        addContent(value, tally)
        break
      case 'name':
        if (typeof value === 'string') tally.fixedTokens += perName
        addText(value, tally)
        break
      case 'refusal':
      case 'tool_calls':
      case 'function_call':
        addText(value, tally)
        break
      case 'reasoning':
      case 'reasoning_content':
      case 'thinking':
      case 'reasoning_details':
        thinks = true
        break
      default:
        addUnknown(field, value, tally)
    }
  }
  if (thinks) addThought(message, tally)
}

/** Adds all fields of the request except the one that has already been read. */
function addRest(body: JsonObject, read: string, tally: PromptTally): void {
  for (const field in body) {
    const value = body[field]
    // Most fields are numbers or flags, which need no further check.
    if ((typeof value !== 'string' && typeof value !== 'object') || field === read || isUnread(field)) continue
    if (readFields.has(field)) {
      addText(value, tally)
      continue
    }
    const before = tally.unknownBytes
    addSize(value, tally)
    if (!mediaKinds.test(field) || tally.unknownBytes - before <= shortBytes) continue
    // A long value in such a field contains media in an unknown format and is counted as media. A short value is only
    // an option for generating media.
    tally.unknownBytes = before
    addMedia(value, tally)
  }
}

/** Fields that most requests have and no model reads. */
function isUnread(field: string): boolean {
  return field === 'model' || field === 'stream_options'
}

/** Adds a text, or the JSON of an object or list. */
function addText(value: unknown, tally: PromptTally): void {
  if (typeof value === 'string') tally.texts.push(value)
  else if (typeof value === 'object' && value !== null) tally.texts.push(written(value))
}

/**
 * Some gateways put the same reasoning into several fields, for the client programs of different services. It is
 * counted once.
 */
function addThought(message: JsonObject, tally: PromptTally): void {
  let longest = ''
  for (const field of thoughtFields) {
    const text = thoughtIn(message[field], tally)
    if (text.length > longest.length) longest = text
  }
  tally.texts.push(longest)
}

/** The text of a reasoning field, which is either a text or a list of entries with texts. */
function thoughtIn(value: unknown, tally: PromptTally): string {
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return isObject(value) ? written(value) : ''
  let text = ''
  for (const entry of value as unknown[]) {
    if (typeof entry === 'string') text += entry
    if (!isObject(entry)) continue
    for (const field in entry) {
      const member = entry[field]
      if (field === 'text' || field === 'summary') text += typeof member === 'string' ? member : sentText(member)
      // Encrypted reasoning cannot be read, so its tokens are estimated from the size of the data.
      else if (!isMark(field)) addSize(member, tally)
    }
  }
  return text
}

function sentText(value: unknown): string {
  return typeof value === 'object' && value !== null ? written(value) : ''
}

/** True for a field that only names the kind of an object. */
function isMark(field: string): boolean {
  return field === 'type' || field === 'format' || field === 'cache_control'
}

function addUnknown(field: string, value: unknown, tally: PromptTally): void {
  if (mediaKinds.test(field) && isMedium(value)) addMedia(value, tally)
  else addSize(value, tally)
}

/**
 * True for a value that may be media. Numbers, flags and short texts only describe media: a name, an id, or a sign that
 * media are present.
 */
function isMedium(value: unknown): boolean {
  if (typeof value === 'string') return value.length > shortBytes || /^(?:data|https?):/i.test(value)
  return typeof value === 'object' && value !== null
}

function addMedia(value: unknown, tally: PromptTally): void {
  tally.mediaTokens += imageTokens * (Array.isArray(value) ? value.length : 1)
}

/**
 * Adds the size of the texts in any value, however deeply nested. An object with a media type counts as one media part.
 * Each value is visited once and no object is created for it, because there may be hundreds of thousands.
 */
function addSize(value: unknown, tally: PromptTally): void {
  const open: unknown[] = []
  addSized(value, tally, open)
  while (open.length > 0) {
    const each = open.pop() as object
    if (Array.isArray(each)) for (const inner of each as unknown[]) addSized(inner, tally, open)
    else if (isTypedMedium(each as JsonObject)) tally.mediaTokens += imageTokens
    else addMembers(each as JsonObject, tally, open)
  }
}

function addMembers(object: JsonObject, tally: PromptTally, open: unknown[]): void {
  for (const name in object) {
    tally.unknownBytes += name.length
    addSized(object[name], tally, open)
  }
}

/** Adds the size of a text. Adds a list or an object to `open`, to be visited later. */
function addSized(value: unknown, tally: PromptTally, open: unknown[]): void {
  if (typeof value === 'object' && value !== null) open.push(value)
  else if (typeof value !== 'string' || value === '') return
  else if (isDataUrl(value)) tally.mediaTokens += imageTokens
  else tally.unknownBytes += Buffer.byteLength(value)
}

/** The fields in which Anthropic, Google and LangChain put the media type. */
const mediaTypes = ['media_type', 'mime_type', 'mimeType']

function isTypedMedium(value: JsonObject): boolean {
  return mediaTypes.some((name) => typeof value[name] === 'string')
}

function isDataUrl(text: string): boolean {
  return text.startsWith('data:')
}

/**
 * The JSON of a value. It cannot overflow the stack, because the parser limits the depth of a request (`jsonLimits`).
 */
function written(value: object): string {
  return JSON.stringify(value)
}

function addContent(content: unknown, tally: PromptTally): void {
  if (typeof content === 'string') {
    tally.texts.push(content)
    return
  }
  if (content === undefined || content === null) return
  if (!Array.isArray(content)) throw wrong('messages', 'messages whose content is text or a list of parts')
  for (const part of content as unknown[]) {
    if (!isObject(part)) throw wrong('messages', 'messages whose content parts are objects')
    addPart(part, tally)
  }
}

function addPart(part: JsonObject, tally: PromptTally): void {
  // A media part may also contain a text, even an empty one, so media are checked first.
  const mediaTokens = mediaTokensOf(part)
  if (mediaTokens > 0) {
    for (const field in part) if (field !== 'text' && field !== 'type') refuseSchemes(part[field])
    tally.mediaTokens += mediaTokens
    if (isNamed(part)) tally.isOpenEnded = true
  }
  for (const field in part) {
    const value = part[field]
    if (field === 'text' || field === 'refusal') addText(value, tally)
    else if (field === 'thinking') tally.texts.push(thoughtIn(value, tally))
    else if (mediaTokens === 0 && field === 'data' && isTypedMedium(part)) addMedia(value, tally)
    else if (mediaTokens === 0 && !isMark(field)) addUnknown(field, value, tally)
  }
}

/**
 * Throws GatewayError (400) if a field of the value contains a URL that `refuseScheme` rejects. Checks all fields,
 * because the name of the field with the URL varies.
 */
function refuseSchemes(value: unknown): void {
  refuseScheme(value)
  if (isObject(value)) for (const name in value) if (name !== 'filename') refuseScheme(value[name])
}

/** Kinds of parts that only some services have: video_url, document_url, pdf_url, … */
const mediaKinds = /image|audio|video|file|document|pdf/

/** Tokens of a part that is not text; 0 for parts that are not media either (thinking, tool results). */
function mediaTokensOf(part: JsonObject): number {
  if (part['type'] === 'image_url') return shownTokens(part['image_url'])
  if (isObject(part['input_audio'])) return sized(part['input_audio']['data'], charactersPerAudioToken)
  if (isObject(part['file'])) return sized(part['file']['file_data'], charactersPerDocumentToken)
  const type = part['type']
  return typeof type === 'string' && mediaKinds.test(type) ? imageTokens : 0
}

/**
 * True for a file, audio or video that is not in the request itself. Images do not count, because their size is
 * limited.
 */
function isNamed(part: JsonObject): boolean {
  if (isObject(part['input_audio'])) return isAddress(part['input_audio']['data'])
  if (isObject(part['file'])) return isAddress(part['file']['file_data'])
  const type = part['type']
  return typeof type === 'string' && /audio|video|file|document|pdf/.test(type) && !type.startsWith('image')
}

/** True if the data is missing or is a URL. */
function isAddress(data: unknown): boolean {
  return typeof data !== 'string' || /^(https?|gs|s3|oss|file):/i.test(data)
}

function shownTokens(image: unknown): number {
  return isObject(image) && image['detail'] === 'low' ? lowDetailImage : imageTokens
}

function sized(data: unknown, charactersPerToken: number): number {
  return typeof data === 'string' ? Math.ceil(data.length / charactersPerToken) : imageTokens
}

/**
 * Reads a request whose prompt is one field: a string, a list of strings, token ids, lists of token ids, or content
 * parts.
 */
export function fieldPrompt(value: unknown, field: string, body: JsonObject): PromptText {
  const tally = emptyTally()
  addItems(value, field, tally)
  addRest(body, field, tally)
  return promptText(tally)
}

function addItems(value: unknown, field: string, tally: PromptTally): void {
  if (typeof value === 'string') {
    tally.texts.push(value)
    return
  }
  if (!Array.isArray(value)) throw wrong(field, 'text or a list')
  for (const item of value as unknown[]) {
    if (typeof item === 'string') tally.texts.push(item)
    else if (typeof item === 'number') tally.fixedTokens++
    else if (Array.isArray(item)) tally.fixedTokens += item.length
    else if (isObject(item)) addPart(item, tally)
    else throw wrong(field, 'a list of texts or token numbers')
  }
}

/** Reads a query and the documents to rank by it. Each document is a text or an object with a text. */
export function rerankPrompt(query: unknown, documents: unknown, body: JsonObject): PromptText {
  if (typeof query !== 'string') throw wrong('query', 'a string')
  if (!Array.isArray(documents)) throw wrong('documents', 'a list')
  const tally = emptyTally()
  for (const each of documents as unknown[]) {
    if (typeof each === 'string') tally.texts.push(each)
    else if (isObject(each) && typeof each['text'] === 'string') addDocument(each, tally)
    else if (isObject(each) && (each['text'] ?? undefined) === undefined) tally.texts.push(written(each))
    else throw wrong('documents', 'a list of texts, or of objects with a text')
  }
  addRest(body, 'documents', tally)
  return promptText(tally)
}

/** Adds all fields of a document, because every field next to the text describes the document, whatever its name. */
function addDocument(document: JsonObject, tally: PromptTally): void {
  for (const field in document) {
    if (field === 'text') tally.texts.push(document['text'] as string)
    else addSize(document[field], tally)
  }
}

function wrong(field: string, expected: string): GatewayError {
  return new GatewayError('invalid_field_value', `${field} must be ${expected}`, { param: field })
}
