import { modelTraits } from '../../dialects/models/claude-model.ts'
import type { Conversation, Message, Part } from '../../dialects/neutral/conversation.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { ChatEndpoint, ContinuedTurn } from '../../providers/provider.ts'
import type { GoesOn } from '../call/goes-on.ts'

/** A conversation that asks a model to continue a truncated answer. */
interface GoingOn {
  conversation: Conversation
  /** The answer so far, if the request contains it as an incomplete last turn. The model then continues this turn. */
  begunWith?: string
  /** The field that marks the last turn as incomplete; absent = no such field is needed. */
  mark?: ContinuedTurn
}

/** The user's turn that asks the model to continue the answer so far. */
export const goOnText =
  'Your last message was cut off by a technical fault. Continue it from exactly where it stops: your reply is appended to it as it is. Begin with the very next character, even if that is in the middle of a word, or is a space or a line break. Do not repeat any part of the message, do not comment on this request, and do not start again.'

/** The facts that determine in which form the answer so far is sent. */
interface Going {
  endpoint: ChatEndpoint
  upstreamModel: string
  withoutPrefill?: boolean
}

/**
 * Appends the answer so far to a conversation. If the service can continue an incomplete turn, the answer is the last
 * turn. Otherwise, the answer is followed by a turn of the user that asks the model to continue. The request does not
 * ask the model to think again.
 */
export function goingOn(whole: Conversation, { text }: GoesOn, going: Going): GoingOn {
  const said = text.replace(/[\ud800-\udbff]$/, '')
  if (said.trim() === '') return { conversation: whole }
  const { reasoning: _reasoning, ...rest } = whole
  const { endpoint, upstreamModel, withoutPrefill } = going
  const isClaude = isOfAnthropic(endpoint) && modelTraits(upstreamModel).prefill
  const mark = isClaude || !isChatForm(endpoint) ? undefined : endpoint.continues
  if ((!isClaude && !mark) || withoutPrefill) {
    const messages = withTurn(rest.messages, 'assistant', said)
    return { conversation: { ...rest, messages: withTurn(messages, 'user', goOnText) } }
  }
  // Claude refuses a last turn that ends with white space (Anthropic docs, "Prefill Claude's response").
  const begun = isClaude ? said.trimEnd() : said
  return {
    conversation: { ...rest, messages: withTurn(rest.messages, 'assistant', begun) },
    begunWith: begun,
    ...(mark && { mark }),
  }
}

function isOfAnthropic({ dialect: { name } }: ChatEndpoint): boolean {
  return name === 'anthropic-messages' || name === 'bedrock-converse'
}

function isChatForm({ dialect: { name } }: ChatEndpoint): boolean {
  return name === 'openai-chat'
}

/**
 * Adds a turn. If the last turn has the same role, the text is appended to that turn, for example to a turn of the
 * model that the caller has begun.
 */
function withTurn(messages: readonly Message[], role: 'assistant' | 'user', text: string): readonly Message[] {
  const part: Part = { type: 'text', text }
  const last = messages.at(-1)
  if (last?.role !== role) return [...messages, { role, parts: [part] }]
  return [...messages.slice(0, -1), { ...last, parts: [...last.parts, part] }]
}

/** Marks the last message of a body as incomplete, so that the model continues it. */
export function markedLast(body: JsonObject, mark: ContinuedTurn): JsonObject {
  const { messages } = body
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined
  if (!Array.isArray(messages) || !isObject(last)) return body
  return { ...body, messages: [...(messages as unknown[]).slice(0, -1), { ...last, [mark]: true }] }
}
