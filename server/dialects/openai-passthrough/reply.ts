import type { RelayMode } from '../../../contract/relay-modes.ts'
import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject, tryStringify } from '../../lib/json.ts'
import { flatError } from '../failures/flat-error.ts'
import { MediaCounter } from '../metering/media-tokens.ts'
import type { MediaTokens } from '../neutral/dialect.ts'
import { usageOf } from '../openai-shared/openai-usage.ts'

/** The parts of a non-streamed JSON response that matter for charging. */
export interface ReplyFacts {
  usage: JsonObject | undefined
  /** Generated text, for counting tokens if there is no usage. */
  output: string
  /** Audio and images of a chat completion, for counting tokens if there is no usage. */
  media?: MediaTokens | undefined
  /** Present if the response is an error although its status is not an error status. */
  error: JsonObject | undefined
}

/** Reads a parsed JSON response of any mode. */
export function readReply(mode: RelayMode, body: JsonObject): ReplyFacts {
  const error = isObject(body['error']) ? body['error'] : undefined
  const usage = mode === 'embeddings' || mode === 'rerank' ? promptUsage(usageOf(body)) : usageOf(body)
  if (mode === 'transcriptions' || mode === 'translations') {
    const { text } = body
    const isText = typeof text === 'string'
    return {
      usage: usage ?? soundLength(body),
      output: isText ? text : '',
      error: isText ? error : (error ?? flatError(body)),
    }
  }
  const choices = body['choices']
  const texts: string[] = []
  const media = new MediaCounter()
  for (const choice of Array.isArray(choices) ? (choices as unknown[]) : []) {
    if (!isObject(choice)) continue
    choiceTexts(choice, texts)
    if (isObject(choice['message'])) addMedia(choice['message'], media)
  }
  return {
    usage,
    output: texts.join(''),
    media: media.tokens,
    error: hasAnswer(body) ? undefined : (error ?? flatError(body)),
  }
}

/**
 * The duration of the audio as usage. It is used if a service reports no usage for a transcription. Such services
 * report the duration if verbose_json is requested.
 */
function soundLength(body: JsonObject): JsonObject | undefined {
  return typeof body['duration'] === 'number' ? { type: 'duration', seconds: body['duration'] } : undefined
}

/**
 * The usage of embeddings and reranking, which have only a prompt. Some services (for example Voyage) report only the
 * total. If the total is larger than the prompt (because of images, with Jina and Voyage), the surplus also belongs to
 * the prompt.
 */
function promptUsage(usage: JsonObject | undefined): JsonObject | undefined {
  if (!usage) return undefined
  const { total_tokens: total } = usage
  const prompt = usage['prompt_tokens'] ?? usage['input_tokens']
  const isWhole = typeof prompt === 'number' && !(typeof total === 'number' && total > prompt)
  const tellsCompletion = (usage['completion_tokens'] ?? usage['output_tokens'] ?? 0) !== 0
  return (prompt !== undefined && isWhole) || tellsCompletion ? usage : { ...usage, prompt_tokens: total ?? prompt }
}

/**
 * True if a response contains an answer. Some services always send an `error` field, so the field alone does not make a
 * response an error.
 */
function hasAnswer(body: JsonObject): boolean {
  return Array.isArray(body['choices']) || Array.isArray(body['data']) || Array.isArray(body['results'])
}

function choiceTexts(choice: JsonObject, texts: string[]): void {
  const message = choice['message']
  for (const value of [choice['text'], ...(isObject(message) ? messageTexts(message) : [])]) {
    if (typeof value === 'string') texts.push(value)
    else if (value !== undefined && value !== null) texts.push(written(value))
  }
}

function written(value: unknown): string {
  const text = tryStringify(value)
  if (text === undefined) throw new GatewayError('bad_response_body', "the upstream's response is nested too deeply")
  return text
}

function addMedia({ audio, images }: JsonObject, media: MediaCounter): void {
  if (isObject(audio) && typeof audio['data'] === 'string') media.addSound(audio['data'])
  if (Array.isArray(images)) for (const _ of images) media.addImage()
}

function messageTexts(message: JsonObject): unknown[] {
  const calls = message['tool_calls']
  const functions = Array.isArray(calls)
    ? (calls as unknown[]).map((call) => (isObject(call) ? (call['function'] ?? call['custom']) : undefined))
    : []
  const audio = message['audio']
  return [
    message['content'],
    message['reasoning_content'] ?? message['reasoning'],
    message['refusal'],
    message['function_call'],
    ...functions,
    isObject(audio) ? audio['transcript'] : undefined,
  ]
}
