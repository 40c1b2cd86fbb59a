import type { RelayMode } from '../../../contract/relay-modes.ts'
import type { DialectName } from '../../dialects/neutral/conversation.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import type { JsonOutline } from '../../lib/json-outline.ts'
import { hashNumber, hashText } from '../../lib/quick-hash.ts'
import { fieldsOf, type JsonBody } from '../body/json-body.ts'
import type { CallBody } from '../call/call.ts'

/** Which calls stay on one channel: all, only those that name their session, or none. */
export type ChannelAffinity = 'on' | 'explicit' | 'off'

/** The data from which the session of a call is derived. */
interface SessionSource {
  readonly affinity: ChannelAffinity
  readonly tokenId: number
  readonly headers: Headers
  readonly body: CallBody
  readonly mode: RelayMode
  readonly dialect: DialectName
}

/** Headers in which clients name their session, in order of precedence. Codex sends the last two. */
const sessionHeaders = ['x-session-id', 'x-session-affinity', 'x-claude-code-session-id', 'session_id', 'session-id']

/**
 * The session of a call, as a hash of the token and the name of the session. Without a name, a conversation is
 * recognised by the parts that do not change from turn to turn. Undefined if the call need not stay on one channel.
 */
export function sessionOf({ affinity, tokenId, headers, body, mode, dialect }: SessionSource): number | undefined {
  if (affinity === 'off') return undefined
  const ofToken = hashNumber(0, tokenId)
  const name = namedIn(headers) ?? (body.kind === 'json' ? namedInBody(fieldsOf(body)) : undefined)
  if (name !== undefined) return hashText(ofToken, name)
  if (affinity === 'explicit' || mode !== 'chat' || body.kind !== 'json') return undefined
  return beginningOf(ofToken, body, dialect)
}

function namedIn(headers: Headers): string | undefined {
  for (const header of sessionHeaders) {
    const value = headers.get(header)
    if (value !== null && value !== '') return value
  }
  return undefined
}

/**
 * The session named in a body, by OpenAI's `prompt_cache_key`, by the metadata, or by the id of a conversation that
 * OpenAI stores.
 */
function namedInBody({ prompt_cache_key: cacheKey, metadata, conversation }: JsonObject): string | undefined {
  if (isText(cacheKey)) return cacheKey
  if (isObject(metadata)) {
    const { session_id: sessionId, user_id: userId } = metadata
    if (isText(sessionId)) return sessionId
    const inUser = isText(userId) ? sessionInUser(userId) : undefined
    if (inUser !== undefined) return inUser
  }
  if (isText(conversation)) return conversation
  return isObject(conversation) && isText(conversation['id']) ? conversation['id'] : undefined
}

/**
 * The session in the user id that Claude Code sends: `user_…_account_…_session_<id>`, or the text of a JSON object with
 * `session_id`. Any other user id names a person. The sessions of one person may be on different channels.
 */
function sessionInUser(userId: string): string | undefined {
  if (userId.startsWith('{')) {
    const parsed = tryParse(userId)
    const id = isObject(parsed) ? parsed['session_id'] : undefined
    return isText(id) ? id : undefined
  }
  const mark = '_session_'
  const at = userId.lastIndexOf(mark)
  return at < 0 || at + mark.length === userId.length ? undefined : userId.slice(at + mark.length)
}

/** Fields that hold the system prompt in some dialect. */
const systemFields = ['system', 'instructions', 'systemInstruction', 'system_instruction']
/** Roles whose messages are part of the system prompt. */
const systemRoles = new Set(['system', 'developer'])

/**
 * A hash of the parts that stay the same within a conversation: the system prompt, the names of the tools and the first
 * message of the user. Undefined if the user has sent no message.
 */
function beginningOf(hash: number, body: JsonBody, dialect: DialectName): number | undefined {
  const { outline } = body
  const json = fieldsOf(body)
  let mixed = hash
  for (const field of systemFields) mixed = hashTexts(mixed, json[field], outline)
  if (Array.isArray(json['tools'])) mixed = hashTools(mixed, json['tools'])
  const turns = json[dialect === 'gemini' ? 'contents' : dialect === 'openai-responses' ? 'input' : 'messages']
  if (isText(turns)) return hashText(mixed, turns)
  if (!Array.isArray(turns)) return undefined
  for (const turn of turns as unknown[]) {
    if (!isObject(turn)) return undefined
    mixed = hashTexts(mixed, turn['content'] ?? turn['parts'], outline)
    if (!systemRoles.has(String(turn['role']))) return mixed
  }
  return undefined
}

/**
 * The maximum number of a message's parts, and of tools, that are hashed. More would not make a conversation easier to
 * recognise.
 */
const mostParts = 16
const mostTools = 64
/**
 * The beginning of the first line of Claude Code's system prompt. This line is different in every call, so it is
 * skipped.
 */
const changingText = 'x-anthropic-billing-header:'

/** Adds a text, a list of parts with texts, or an object with such a list to the hash. Other content is skipped. */
function hashTexts(hash: number, value: unknown, outline: JsonOutline | undefined): number {
  if (typeof value === 'string') {
    const text = outline ? outline.textOf(value) : value
    return text.startsWith(changingText) ? hash : hashText(hash, text)
  }
  if (Array.isArray(value)) {
    let mixed = hash
    for (let at = 0; at < value.length && at < mostParts; at++) mixed = hashTexts(mixed, textIn(value[at]), outline)
    return mixed
  }
  return isObject(value) ? hashTexts(hash, textIn(value), outline) : hash
}

/** The text of a part. For Gemini's system instruction, its list of parts. */
function textIn(part: unknown): unknown {
  if (!isObject(part)) return typeof part === 'string' ? part : undefined
  return typeof part['text'] === 'string' ? part['text'] : Array.isArray(part['parts']) ? part['parts'] : undefined
}

function hashTools(hash: number, tools: readonly unknown[]): number {
  let mixed = hashNumber(hash, tools.length)
  for (let at = 0; at < tools.length && at < mostTools; at++) {
    const tool = tools[at]
    if (!isObject(tool)) continue
    const name = isObject(tool['function']) ? tool['function']['name'] : tool['name']
    if (typeof name === 'string') mixed = hashText(mixed, name)
  }
  return mixed
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
