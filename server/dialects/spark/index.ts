import { isObject, type JsonObject } from '../../lib/json.ts'
import { type ChatRequest, chatBased } from '../chat-based/chat-based.ts'
import { alternating, plainTurns, systemAsTurns, textTurns } from '../chat-based/plain-turns.ts'
import type { UpstreamDialect } from '../neutral/dialect.ts'
import { looseList, looseObject, looseText } from '../neutral/fields.ts'
import { failureIn, failureWithin } from './failure.ts'
import { type SparkModel, takesSystem } from './model.ts'

/**
 * iFlytek's native format for conversations with Spark (Spark Web API docs). The request is one message. The response
 * is a series of frames.
 */
export function spark(model: SparkModel, appId: string): UpstreamDialect {
  return chatBased({
    name: 'spark',
    request: (request) => requestOut(request, model, appId),
    reply: (frame) => chunkOf(frame, 'message'),
    chunks: () => (frame) => [chunkOf(frame, 'delta')],
    failureWithin,
    decodeFailure: failureIn,
  })
}

function requestOut(request: ChatRequest, model: SparkModel, appId: string): JsonObject {
  const { system, turns } = plainTurns(request.messages)
  for (const { thought } of turns) if (thought) request.lose('thought', thought)
  const hasSystem = system !== '' && takesSystem(model)
  const before = hasSystem ? [] : systemAsTurns(system)
  const spoken = alternating([...before, ...textTurns(turns)])
  // The last turn must be the user's. `systemAsTurns` makes two turns of a system prompt: a user turn and a filler reply.
  // If there are no other turns, the filler reply would come last, so it is omitted.
  const texts = (turns.length === 0 ? spoken.slice(0, 1) : spoken).map(({ role, text }) => ({ role, content: text }))
  const functions = request.functions
  const user = request.take('user')
  return {
    header: { app_id: appId, ...(typeof user === 'string' && { uid: user.slice(0, 32) }) },
    parameter: {
      chat: {
        domain: model.domain,
        temperature: request.takeWithin('temperature', 0.01, 1),
        top_k: request.takeWithin('top_k', 1, 6),
        max_tokens: request.maxTokens,
      },
    },
    payload: {
      message: { text: hasSystem ? [{ role: 'system', content: system }, ...texts] : texts },
      ...(functions.length > 0 && { functions: { text: functions.map(functionOut) } }),
    },
  }
}

function functionOut({ name, description, parameters }: JsonObject): JsonObject {
  return {
    name,
    description: looseText(description) || name,
    parameters: isObject(parameters) ? parameters : { type: 'object', properties: {} },
  }
}

/** A frame in OpenAI's format. The last frame can also have content. */
function chunkOf(frame: JsonObject, member: 'message' | 'delta'): JsonObject {
  const { header, payload } = frame
  const { choices, usage } = looseObject(payload)
  const texts = looseList(looseObject(choices)['text'])
  const isLast = looseObject(choices)['status'] === 2 || looseObject(header)['status'] === 2
  const called = texts.map((text) => text['function_call']).find(isObject)
  const message = {
    role: 'assistant',
    content: texts.map((text) => looseText(text['content'])).join(''),
    reasoning_content: texts.map((text) => looseText(text['reasoning_content'])).join(''),
    ...(called && { tool_calls: [{ index: 0, type: 'function', function: called }] }),
  }
  return {
    id: looseObject(header)['sid'],
    choices: [{ index: 0, [member]: message, finish_reason: isLast ? (called ? 'tool_calls' : 'stop') : null }],
    usage: looseObject(usage)['text'],
  }
}

/** Combines all frames of an answer into one, for callers who do not stream. */
export function joinFrames(frames: readonly JsonObject[]): JsonObject {
  const last = frames.at(-1) ?? {}
  const payloads = frames.map((frame) => looseObject(frame['payload']))
  return {
    header: last['header'],
    payload: {
      choices: { status: 2, text: payloads.flatMap(({ choices }) => looseList(looseObject(choices)['text'])) },
      usage: payloads.map(({ usage }) => usage).findLast(isObject),
    },
  }
}

/** True for the last frame, including one that reports an error. */
export function isLastFrame(frame: JsonObject): boolean {
  const header = looseObject(frame['header'])
  return header['status'] === 2 || (header['code'] !== undefined && header['code'] !== 0)
}
