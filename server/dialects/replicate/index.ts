import { isObject, type JsonObject } from '../../lib/json.ts'
import { type ChatRequest, chatBased, noChoices } from '../chat-based/chat-based.ts'
import { alternating, gap, plainTurns, textTurns } from '../chat-based/plain-turns.ts'
import { serviceFailure } from '../failures/service-failure.ts'
import { kindOfStatus, messageOf } from '../neutral/failure.ts'
import { looseObject, looseText } from '../neutral/fields.ts'
import type { Failure } from '../neutral/reply.ts'

/**
 * Language models on Replicate (HTTP API, "Create a prediction using an official model"). A request contains a prompt.
 * The response is a prediction or a stream of texts. Every event of a stream is an object that contains the event's
 * name and data. The last event is the final prediction.
 */
export const replicateChat = chatBased({
  name: 'replicate',
  request: requestOut,
  reply: (wire) => ('output' in wire ? completion(textOf(wire['output']), 'message', 'stop', wire) : noChoices),
  chunks: () => chunksOf,
  failureWithin,
  decodeFailure: (status, body) => serviceFailure(status, kindOfStatus(status), messageOf(body, status), ''),
})

/**
 * The prompt of a conversation. If there is only one turn, the prompt is its text. A longer conversation becomes one
 * text with the role before each turn.
 */
function requestOut(request: ChatRequest): JsonObject {
  const { system, turns } = plainTurns(request.messages)
  const spoken = alternating(textTurns(turns))
  const [only] = spoken
  const lines = spoken.map(({ role, text }) => `${role}: ${text}`)
  const prompt = spoken.length === 1 && only ? only.text : [...lines, 'assistant:'].join(gap)
  return {
    input: {
      prompt,
      ...(system !== '' && { system_prompt: system }),
      max_tokens: request.maxTokens,
      temperature: request.takeNumber('temperature'),
      top_p: request.takeNumber('top_p'),
      top_k: request.takeNumber('top_k'),
      presence_penalty: request.takeNumber('presence_penalty'),
      frequency_penalty: request.takeNumber('frequency_penalty'),
      seed: request.takeNumber('seed'),
      stop_sequences: request.takeStop()?.join(','),
    },
    ...(request.stream && { stream: true }),
  }
}

function chunksOf({ event, data }: JsonObject): JsonObject[] {
  if (event === 'output') return [completion(typeof data === 'string' ? data : JSON.stringify(data), 'delta', null, {})]
  if (event === 'prediction') return [completion('', 'delta', 'stop', looseObject(data))]
  return []
}

function completion(
  content: string,
  member: 'message' | 'delta',
  finish: string | null,
  prediction: JsonObject,
): JsonObject {
  const { input_token_count: prompt, output_token_count: answer } = looseObject(prediction['metrics'])
  const isCounted = typeof prompt === 'number' && typeof answer === 'number'
  return {
    id: looseText(prediction['id']),
    choices: [{ index: 0, [member]: { role: 'assistant', content }, finish_reason: finish }],
    ...(isCounted && { usage: { prompt_tokens: prompt, completion_tokens: answer, total_tokens: prompt + answer } }),
  }
}

/** The text of a model's output, which is either a text or a list of pieces. */
function textOf(output: unknown): string {
  if (typeof output === 'string') return output
  return Array.isArray(output) ? (output as unknown[]).filter((each) => typeof each === 'string').join('') : ''
}

/** The failure that a failed prediction or an error event reports. */
export function failureWithin(wire: JsonObject): Failure | undefined {
  const { event, data } = wire
  if (event === 'error') return failed(typeof data === 'string' ? data : messageOf(data, 0))
  const prediction = event === 'prediction' ? looseObject(data) : wire
  const { status, error } = prediction
  if (status !== 'failed' && status !== 'canceled' && status !== 'aborted') return undefined
  return failed(looseText(error) || (isObject(error) ? messageOf(error, 0) : `the prediction was ${status}`))
}

function failed(message: string): Failure {
  return serviceFailure(0, 'server', message, '')
}
