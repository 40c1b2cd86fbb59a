import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import type { EncodeOptions, StreamDecoder, UpstreamDialect } from '../neutral/dialect.ts'
import { unreadableEvent } from '../neutral/failure.ts'
import { looseList } from '../neutral/fields.ts'
import type { Failure, StreamEvent } from '../neutral/reply.ts'
import { openaiChat } from '../openai-chat/index.ts'
import { DroppedFields, type Losable } from '../wire/dropped-fields.ts'

/**
 * A format that can be converted to and from OpenAI's chat format. Requests are first written in OpenAI's format and
 * then converted to the service's. Responses are converted back in the same way. The code that reads and writes
 * OpenAI's format therefore serves this format, too.
 */
export interface ChatBased {
  readonly name: string
  readonly options?: EncodeOptions
  readonly billsPromptAlone?: true
  /** The service's request. Throws GatewayError (400) for anything that the service does not support. */
  request(request: ChatRequest): JsonObject
  /** A non-streamed response as a chat completion. */
  reply(wire: JsonObject): JsonObject
  /** True if messages and tools are passed on unchanged. */
  readonly keepsMessages?: true
  /**
   * Creates the reader of one stream, which converts every event to chunks in OpenAI's format. It returns an empty list
   * for an event without content, like a keep-alive, and undefined for an event that cannot be read.
   */
  chunks(): (event: JsonObject) => readonly JsonObject[] | undefined
  failureWithin?(wire: JsonObject): Failure | undefined
  decodeFailure(status: number, body: unknown): Failure
}

/** The chat completion for a body that contains no answer. */
export const noChoices: JsonObject = { choices: [] }

/** The dialect of a service, built from the functions that convert its format. */
export function chatBased(kin: ChatBased): UpstreamDialect {
  return {
    name: kin.name,
    ...(kin.billsPromptAlone && { billsPromptAlone: true }),
    encodeRequest({ topK, ...conversation }, options) {
      // OpenAI's chat has no `top_k`, but many similar APIs do.
      const { body, dropped } = openaiChat.encodeRequest(conversation, { webSearch: true, ...kin.options, ...options })
      // Unknown fields at the top level of the request are either passed on or listed as dropped.
      const carries = (field: string) => kin.keepsMessages === true || !field.includes('.')
      const droppedFields = new DroppedFields(conversation, kin.name, carries)
      const request = new ChatRequest({ ...body, ...(topK !== undefined && { top_k: topK }) }, droppedFields)
      const wire = kin.request(request)
      request.loseRest()
      return { body: wire, dropped: [...new Set([...dropped, ...droppedFields.names])] }
    },
    decodeReply: (wire, idSeed) => openaiChat.decodeReply(kin.reply(wire), idSeed),
    streamDecoder: (idSeed) => new ChatBasedDecoder(kin, openaiChat.streamDecoder(idSeed)),
    decodeFailure: (status, body) => kin.decodeFailure(status, body),
    ...(kin.failureWithin && { failureWithin: (wire: JsonObject) => kin.failureWithin?.(wire) }),
  }
}

class ChatBasedDecoder implements StreamDecoder {
  readonly #kin: ChatBased
  readonly #inner: StreamDecoder
  readonly #chunks: ReturnType<ChatBased['chunks']>
  #failed = false

  constructor(kin: ChatBased, inner: StreamDecoder) {
    this.#kin = kin
    this.#inner = inner
    this.#chunks = kin.chunks()
  }

  push(data: string): StreamEvent[] {
    if (this.#failed) return []
    const event = tryParse(data)
    if (!isObject(event)) return this.#inner.push(data)
    const failure = this.#kin.failureWithin?.(event)
    if (failure) {
      this.#failed = true
      return [{ type: 'error', failure }]
    }
    return this.#chunks(event)?.flatMap((chunk) => this.#inner.push(JSON.stringify(chunk))) ?? [unreadableEvent]
  }

  finish(): StreamEvent[] {
    return this.#failed ? [] : this.#inner.finish()
  }
}

/** Maps OpenAI's chat fields to their names in the list of dropped fields. */
const losable: Readonly<Record<string, Losable>> = {
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  frequency_penalty: 'frequencyPenalty',
  presence_penalty: 'presencePenalty',
  seed: 'seed',
  stop: 'stop',
  n: 'choices',
  logprobs: 'logprobs',
  top_logprobs: 'topLogprobs',
  verbosity: 'verbosity',
  user: 'userId',
  metadata: 'metadata',
  service_tier: 'serviceTier',
  prompt_cache_key: 'cacheKey',
  prompt_cache_retention: 'cacheRetention',
  response_format: 'format',
  reasoning_effort: 'reasoning',
  modalities: 'output',
  audio: 'output',
  parallel_tool_calls: 'parallelTools',
  tool_choice: 'toolChoice',
  web_search_options: 'searchTool',
}

/** Values that request only the default behaviour of every service. Dropping them loses nothing. */
const usual: Readonly<Record<string, readonly unknown[]>> = {
  n: [1],
  logprobs: [false],
  frequency_penalty: [0],
  presence_penalty: [0],
  parallel_tool_calls: [true],
  tool_choice: ['auto', 'none'],
  service_tier: ['auto', 'default'],
}

/** A request in OpenAI's format. Fields that are not read with a `take` method are listed as dropped. */
export class ChatRequest {
  readonly #body: JsonObject
  readonly #droppedFields: DroppedFields
  readonly #taken = new Set<string>(['model', 'messages', 'stream', 'stream_options'])

  constructor(body: JsonObject, droppedFields: DroppedFields) {
    this.#body = body
    this.#droppedFields = droppedFields
  }

  get model(): string {
    return String(this.#body['model'])
  }

  get stream(): boolean {
    return this.#body['stream'] === true
  }

  get messages(): readonly JsonObject[] {
    return looseList(this.#body['messages'])
  }

  /** The token limit of the answer, from either of its two fields. */
  get maxTokens(): number | undefined {
    const newer = this.takeNumber('max_completion_tokens')
    const older = this.takeNumber('max_tokens')
    return newer ?? older
  }

  /** Functions that the model may call. */
  get functions(): readonly JsonObject[] {
    return looseList(this.take('tools')).flatMap((tool) => {
      if (isObject(tool['function'])) return [tool['function']]
      this.#droppedFields.foreign(tool, 'tool')
      return []
    })
  }

  /** Returns the value of a field and marks the field as used, so that it is not listed as dropped. */
  take(name: string): unknown {
    this.#taken.add(name)
    return this.#body[name] ?? undefined
  }

  takeNumber(name: string): number | undefined {
    const value = this.take(name)
    return typeof value === 'number' ? value : undefined
  }

  /** Takes a number, clamped to the range that the service accepts. */
  takeWithin(name: string, least: number, most: number): number | undefined {
    const value = this.takeNumber(name)
    const what = losable[name]
    if (value === undefined || !what) return value
    return this.#droppedFields.within(what, value, least, most)
  }

  /** Takes one or several stop sequences. */
  takeStop(): readonly string[] | undefined {
    const value = this.take('stop')
    if (typeof value === 'string') return [value]
    const list = Array.isArray(value) ? (value as unknown[]).filter((each) => typeof each === 'string') : []
    return list.length > 0 ? list : undefined
  }

  /** Takes the format of the answer's text: `json_object` or `json_schema`; undefined for plain text. */
  takeFormat(): string | undefined {
    const format = this.take('response_format')
    const type = isObject(format) ? format['type'] : undefined
    return typeof type === 'string' && type !== 'text' ? type : undefined
  }

  /** Takes the fields that this gateway does not know but the service may support. */
  takeUnknown(): JsonObject {
    const unknown = Object.entries(this.#body).filter(([name]) => !this.#taken.has(name) && !(name in losable))
    for (const [name] of unknown) this.#taken.add(name)
    return Object.fromEntries(unknown.filter(([name, value]) => value !== undefined && name !== 'store'))
  }

  /** Records that something was dropped. */
  lose(what: Losable, value: unknown): void {
    this.#droppedFields.lose(what, value)
  }

  /** Records as dropped all fields that were not read with a `take` method. */
  loseRest(): void {
    for (const [name, value] of Object.entries(this.#body)) {
      if (this.#taken.has(name) || value === undefined || value === null || usual[name]?.includes(value)) continue
      const what = losable[name]
      if (what) this.#droppedFields.lose(what, value)
      else if (name !== 'store') this.#droppedFields.note(name)
    }
  }
}

/** The error for a request that the service does not support: 400, with the path of the field. */
export function cannotSay(message: string, param: string): GatewayError {
  return new GatewayError('invalid_field_value', message, { param })
}
