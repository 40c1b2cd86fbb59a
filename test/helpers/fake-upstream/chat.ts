import { sendJson } from './reply.ts'
import { type SsePace, type SseStyle, sendEvents } from './sse.ts'
import { type Behaviour, behaviour, type Exchange, type HeaderList, isJsonObject, type JsonObject } from './types.ts'

/** A tool call as in a finished answer. */
export interface ToolCall {
  readonly id?: string
  readonly name: string
  readonly arguments: string
}

/** The content of a chat response. By default it is valid: it respects max_tokens and reports matching usage. */
export interface ChatOptions {
  /** The text of the response. One word counts as one token. */
  readonly text?: string
  /**
   * The usage to report. It is sent unchanged, right or wrong. null omits it. Default: 10 prompt_tokens and one token
   * per word.
   */
  readonly usage?: JsonObject | null
  readonly promptTokens?: number
  readonly finishReason?: string
  readonly toolCalls?: readonly ToolCall[]
  /** Sent as reasoning_content. */
  readonly reasoning?: string
  /** If true, sends the full text regardless of max_tokens. */
  readonly ignoreMaxTokens?: boolean
  /** Extra fields of the response or of each chunk. */
  readonly extra?: JsonObject
  readonly headers?: HeaderList
}

/** A streamed chat response. */
export interface StreamOptions extends ChatOptions, SsePace {
  /** The deltas, or how many words to send, one per chunk. */
  readonly chunks?: readonly string[] | number
  /**
   * When the usage chunk is sent: if stream_options.include_usage requests it (default), always, never, twice, or on
   * every chunk.
   */
  readonly usageChunk?: 'asked' | 'always' | 'never' | 'twice' | 'every'
  /** If false, the stream ends without `[DONE]`. */
  readonly done?: boolean
  readonly style?: SseStyle
}

/** A plain response, or a stream if the request asks for one. */
export function ok(options: StreamOptions = {}): Behaviour {
  return behaviour('ok', (exchange) =>
    (exchange.request.fields.stream === true ? okStream(options) : okChat(options)).run(exchange),
  )
}

/** A plain chat (or legacy) completion. */
export function okChat(options: ChatOptions = {}): Behaviour {
  return behaviour('okChat', (exchange) => sendJson(exchange, 200, chatBody(exchange, options), options.headers))
}

/** A streamed chat (or legacy) completion. */
export function okStream(options: StreamOptions = {}): Behaviour {
  return behaviour('okStream', async (exchange) => {
    exchange.head(200, streamHeaders(options.headers))
    if (await sendEvents(exchange, streamEvents(exchange, options), options.style ?? {}, options)) exchange.end()
  })
}

/** Headers of an event stream. */
export function streamHeaders(extra: HeaderList = []): HeaderList {
  return [['content-type', 'text/event-stream'], ['cache-control', 'no-cache'], ['x-request-id', 'req_fake'], ...extra]
}

/** The body of a plain response. */
function chatBody(exchange: Exchange, options: ChatOptions): JsonObject {
  const { words, finish } = answerWords(
    exchange,
    options,
    (options.text ?? 'Hello from the fake upstream.').match(/\s*\S+/g) ?? [],
  )
  const text = words.join('')
  const message = {
    role: 'assistant',
    content: options.toolCalls && options.text === undefined ? null : text,
    ...(options.reasoning === undefined ? {} : { reasoning_content: options.reasoning }),
    ...(options.toolCalls ? { tool_calls: options.toolCalls.map((call, index) => wireToolCall(call, index)) } : {}),
  }
  const choice = isLegacy(exchange)
    ? { index: 0, text, finish_reason: finish }
    : { index: 0, message, finish_reason: finish }
  const usage = usageOf(options, words.length)
  return { ...envelope(exchange, false), choices: [choice], ...(usage ? { usage } : {}), ...options.extra }
}

/** All events of a stream, including `[DONE]`. */
export function streamEvents(exchange: Exchange, options: StreamOptions): unknown[] {
  const { words, finish } = answerWords(exchange, options, deltas(options))
  const usage = usageOf(options, words.length)
  const { usageChunk = 'asked' } = options
  const base = { ...envelope(exchange, true), ...options.extra }
  let sent = 0
  const chunk = (delta: JsonObject, finishReason: string | null = null) => {
    if (delta.content) sent++
    const choice = isLegacy(exchange) ? { text: delta.content ?? '' } : { delta }
    const running = usageChunk === 'every' && usage ? { usage: usageOf(options, sent) } : {}
    return { ...base, choices: [{ index: 0, ...choice, finish_reason: finishReason }], ...running }
  }
  const events: unknown[] = [chunk({ role: 'assistant', content: '' })]
  if (options.reasoning !== undefined) events.push(chunk({ reasoning_content: options.reasoning }))
  for (const content of words) events.push(chunk({ content }))
  for (const [index, call] of (options.toolCalls ?? []).entries())
    events.push(...toolCallDeltas(call, index).map((delta) => chunk(delta)))
  events.push(chunk({}, finish))
  const times = { asked: asksForUsage(exchange) ? 1 : 0, always: 1, never: 0, twice: 2, every: 0 }[usageChunk]
  if (usage) for (let time = 0; time < times; time++) events.push({ ...base, choices: [], usage })
  if (options.done !== false) events.push('[DONE]')
  return events
}

/** Whether the request set stream_options.include_usage. */
function asksForUsage(exchange: Exchange): boolean {
  const { stream_options } = exchange.request.fields
  return isJsonObject(stream_options) && stream_options.include_usage === true
}

function deltas(options: StreamOptions): readonly string[] {
  if (typeof options.chunks === 'number')
    return Array.from({ length: options.chunks }, (_, index) => `${index === 0 ? '' : ' '}word${index}`)
  return options.chunks ?? (options.text ?? 'Hello from the fake upstream.').match(/\s*\S+/g) ?? []
}

function answerWords(
  exchange: Exchange,
  options: ChatOptions,
  words: readonly string[],
): { words: readonly string[]; finish: string } {
  const { max_tokens, max_completion_tokens } = exchange.request.fields
  const limit = options.ignoreMaxTokens ? undefined : (max_completion_tokens ?? max_tokens)
  const cut = typeof limit === 'number' && limit < words.length
  const usual = options.toolCalls ? 'tool_calls' : 'stop'
  return { words: cut ? words.slice(0, limit) : words, finish: cut ? 'length' : (options.finishReason ?? usual) }
}

function usageOf(options: ChatOptions, completionTokens: number): JsonObject | undefined {
  if (options.usage === null) return undefined
  const promptTokens = options.promptTokens ?? 10
  const counted = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
  return options.usage ?? counted
}

function envelope(exchange: Exchange, streamed: boolean): JsonObject {
  const kind = isLegacy(exchange) ? 'text_completion' : streamed ? 'chat.completion.chunk' : 'chat.completion'
  const model = exchange.request.model ?? 'gpt-4o-mini'
  return { id: 'chatcmpl-fake', object: kind, created: 1_700_000_000, model, system_fingerprint: 'fp_fake' }
}

function isLegacy(exchange: Exchange): boolean {
  return /(^|[^t])\/completions$/.test(exchange.request.path) && !exchange.request.path.includes('/chat/')
}

function wireToolCall(call: ToolCall, index: number): JsonObject {
  return { id: call.id ?? `call_${index}`, type: 'function', function: { name: call.name, arguments: call.arguments } }
}

/** Sends the name first and then the arguments in pieces, as the real service does. */
function toolCallDeltas(call: ToolCall, index: number): JsonObject[] {
  const pieces = call.arguments.match(/[\s\S]{1,6}/g) ?? []
  const first = { tool_calls: [{ index, ...wireToolCall({ ...call, arguments: '' }, index) }] }
  return [first, ...pieces.map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] }))]
}
