import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Conversation, DialectName, Native, Part, SearchTool } from '../neutral/conversation.ts'

type Named = Record<DialectName, string>

const named = (chat: string, responses: string, messages: string, gemini: string): Named => ({
  'openai-chat': chat,
  'openai-responses': responses,
  'anthropic-messages': messages,
  gemini,
})
const config = (name: string) => `generationConfig.${name}`

/**
 * The features that at least one dialect does not support, with the name of the field in each dialect ('' = no field).
 * A dropped feature is reported under the name from the caller's dialect.
 */
const wireNames = {
  temperature: named('temperature', 'temperature', 'temperature', config('temperature')),
  topP: named('top_p', 'top_p', 'top_p', config('topP')),
  topK: named('top_k', 'top_k', 'top_k', config('topK')),
  frequencyPenalty: named('frequency_penalty', 'frequency_penalty', '', config('frequencyPenalty')),
  presencePenalty: named('presence_penalty', 'presence_penalty', '', config('presencePenalty')),
  seed: named('seed', '', '', config('seed')),
  stop: named('stop', '', 'stop_sequences', config('stopSequences')),
  choices: named('n', '', '', config('candidateCount')),
  logprobs: named('logprobs', 'include', '', config('responseLogprobs')),
  topLogprobs: named('top_logprobs', 'top_logprobs', '', config('logprobs')),
  verbosity: named('verbosity', 'text.verbosity', '', ''),
  userId: named('user', 'user', 'metadata.user_id', ''),
  metadata: named('metadata', 'metadata', '', ''),
  serviceTier: named('service_tier', 'service_tier', 'service_tier', 'serviceTier'),
  cacheKey: named('prompt_cache_key', 'prompt_cache_key', '', ''),
  cacheRetention: named('prompt_cache_retention', 'prompt_cache_retention', '', ''),
  cache: named('cache_control', '', 'cache_control', ''),
  cacheMark: named('messages.cache_control', 'input.prompt_cache_breakpoint', 'messages.cache_control', ''),
  format: named('response_format', 'text.format', 'output_config.format', config('responseMimeType')),
  reasoning: named('reasoning_effort', 'reasoning', 'thinking', config('thinkingConfig')),
  output: named('modalities', 'tools.image_generation', '', config('responseModalities')),
  parallelTools: named('parallel_tool_calls', 'parallel_tool_calls', 'tool_choice.disable_parallel_tool_use', ''),
  toolChoice: named('tool_choice', 'tool_choice', 'tool_choice', 'toolConfig'),
  toolFormat: named('tools.custom.format', 'tools.format', '', ''),
  searchTool: named('web_search_options', 'tools.web_search', 'tools.web_search', 'tools.googleSearch'),
  searchSize: named('web_search_options.search_context_size', 'tools.search_context_size', '', ''),
  searchLocation: named('web_search_options.user_location', 'tools.user_location', 'tools.user_location', ''),
  searchUses: named('', '', 'tools.max_uses', ''),
  allowedDomains: named('web_search_options.filters', 'tools.filters', 'tools.allowed_domains', ''),
  blockedDomains: named('web_search_options.filters', 'tools.filters', 'tools.blocked_domains', ''),
  cite: named('', '', 'messages.content.citations.enabled', ''),
  detail: named('messages.content.image_url.detail', 'input.content.detail', '', ''),
  isError: named('', '', 'messages.content.is_error', 'contents.parts.functionResponse.response.error'),
  strictTool: named('tools.function.strict', 'tools.strict', 'tools.strict', ''),
  schemaLimits: named('response_format.json_schema.schema', 'text.format.schema', '', config('responseJsonSchema')),
  summary: named('', 'reasoning.summary', '', ''),
  speaker: named('messages.name', '', '', ''),
  thought: named('messages.reasoning_content', 'input.reasoning', 'messages.thinking', 'contents.thought'),
} as const satisfies Record<string, Named>

/** The gateway's own name for a feature that can be dropped. */
export type Losable = keyof typeof wireNames

/** The name of the feature's field in a caller's dialect; '' if the dialect has none. */
export function nameOf(what: Losable, dialect: DialectName): string {
  return wireNames[what][dialect]
}

/**
 * Functions that return the value of a setting for which some dialects have no field; undefined if the caller left the
 * setting at its default.
 */
const wishes = {
  frequencyPenalty: ({ frequencyPenalty }) => frequencyPenalty || undefined,
  presencePenalty: ({ presencePenalty }) => presencePenalty || undefined,
  seed: ({ seed }) => seed,
  stop: ({ stop }) => (stop?.length ? stop : undefined),
  choices: ({ choices = 1 }) => (choices > 1 ? choices : undefined),
  logprobs: ({ logprobs }) => logprobs || undefined,
  verbosity: ({ verbosity }) => verbosity,
  userId: ({ userId }) => userId,
  metadata: ({ metadata }) => metadata,
  serviceTier: ({ serviceTier }) => (serviceTier === 'auto' ? undefined : serviceTier),
  cacheKey: ({ cacheKey }) => cacheKey,
  cacheRetention: ({ cacheRetention }) => cacheRetention,
  cache: ({ cache }) => cache,
  parallelTools: ({ parallelTools }) => (parallelTools === false ? false : undefined),
  summary: ({ reasoning }) => (reasoning?.summary === 'auto' ? undefined : reasoning?.summary),
  output: ({ output }) => output?.modalities.find((each) => each !== 'text'),
} as const satisfies Partial<Record<keyof typeof wireNames, (conversation: Conversation) => unknown>>

type Wish = keyof typeof wishes

/** Options that the caller may set for a search. */
const searchOptions = {
  searchSize: ({ contextSize }) => contextSize,
  searchLocation: ({ location }) => location,
  searchUses: ({ maxUses }) => maxUses,
  allowedDomains: ({ allowedDomains }) => allowedDomains,
  blockedDomains: ({ blockedDomains }) => blockedDomains,
  cacheMark: ({ cache }) => cache,
} as const satisfies Partial<Record<keyof typeof wireNames, (tool: SearchTool) => unknown>>

/**
 * Some services exclude a bound that others accept, so a number at the bound is moved into the range, for example from
 * 0 to 0.01. A change of at most this amount is not reported as a dropped field.
 */
const openEnd = 0.0101

/** The number, clamped to the range. */
export function withinRange(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}

/** True if clamping changed a number by more than `openEnd`, so that the change must be reported. */
export function isFar(taken: number, value: number): boolean {
  return Math.abs(taken - value) > openEnd
}

/**
 * Fields that refer to data stored by a service. A request that contains one is refused if the upstream uses another
 * dialect, because dropping the field would change the meaning of the request.
 */
const stateful: ReadonlySet<string> = new Set([
  'previous_response_id',
  'conversation',
  'background',
  'prompt',
  'cachedContent',
])

/** The path under which a dropped part, message or tool is reported, in each dialect. */
const wirePaths = {
  part: named('messages.content', 'input.content', 'messages.content', 'contents.parts'),
  message: named('messages', 'input', 'messages', 'contents'),
  tool: named('tools', 'tools', 'tools', 'tools'),
} as const

/**
 * Collects the fields that are dropped when a request is converted to another dialect, under their names in the
 * caller's dialect.
 */
export class DroppedFields {
  readonly #from: DialectName
  readonly #to: DialectName | (string & {})
  readonly #names = new Set<string>()

  /**
   * Records the fields that the decoder did not read and that will not be sent to the upstream. `carries` returns true
   * for the path of an unread field that is sent to the upstream anyway. Throws GatewayError for fields that must not
   * be dropped.
   */
  constructor(conversation: Conversation, to: DialectName | (string & {}), carries = (_field: string) => false) {
    const { native, from } = conversation
    const unread = conversation.unread?.()
    this.#from = from
    this.#to = to
    for (const field of unread?.lost ?? []) this.#names.add(field)
    if (!this.isForeign) return
    for (const [name, value] of Object.entries(native?.fields ?? {}))
      if (stateful.has(name) && value !== false) throw refused(name, `${name} is stored at a service`)
    for (const field of unread?.kept ?? []) if (!carries(field)) this.#names.add(field)
  }

  /**
   * True if the upstream's dialect differs from the caller's. The upstream then does not know the files and other
   * objects to which ids in the request refer.
   */
  get isForeign(): boolean {
    return this.#from !== this.#to
  }

  /** The names of the dropped fields, each listed once. */
  get names(): readonly string[] {
    return [...this.#names]
  }

  /** Records a feature as dropped, unless `value` is undefined or the caller's dialect has no field for the feature. */
  lose(what: Losable, value: unknown): void {
    const name = wireNames[what][this.#from]
    if (value !== undefined && name !== '') this.#names.add(name)
  }

  /**
   * Clamps a number to the range that the service accepts. If the number changes by more than `openEnd`, the feature is
   * recorded as dropped.
   */
  within(what: Losable, value: number, least: number, most: number): number {
    const taken = withinRange(value, least, most)
    if (isFar(taken, value)) this.lose(what, value)
    return taken
  }

  /** Records as dropped the search options that the caller set and the service does not support. */
  loseSearchBut(tool: SearchTool, ...supported: readonly (keyof typeof searchOptions)[]): void {
    for (const name of Object.keys(searchOptions) as (keyof typeof searchOptions)[])
      if (!supported.includes(name)) this.lose(name, searchOptions[name](tool))
  }

  /** Records as dropped every setting that the caller requested and that is not in `supported`. */
  loseWishesBut(conversation: Conversation, ...supported: readonly Wish[]): void {
    for (const name of Object.keys(wishes) as Wish[])
      if (!supported.includes(name)) this.lose(name, wishes[name](conversation))
  }

  /** The dialect-specific fields in `native` if the upstream uses their dialect; otherwise none. */
  native(native: Native | undefined): JsonObject {
    return native?.dialect === this.#to ? native.fields : {}
  }

  /** Adds the dialect-specific fields of a conversation to the request `body` if the upstream uses their dialect. */
  withNative(body: JsonObject, { native }: Conversation): JsonObject {
    return native?.dialect === this.#to ? merged({ ...body, ...native.fields }, native) : body
  }

  /** Records a field as dropped, under the name that the caller used. */
  note(name: string): void {
    this.#names.add(name)
  }

  /**
   * Records a tool or part of the caller's dialect as dropped. It is named by its path and its type, such as
   * `tools.code_interpreter`.
   */
  foreign(value: JsonObject, field: keyof typeof wirePaths): void {
    const kind = typeof value['type'] === 'string' ? value['type'] : Object.keys(value).join('+')
    this.#names.add(`${wirePaths[field][this.#from]}.${kind}`)
  }

  /**
   * Throws GatewayError (400) for a part that the upstream's dialect cannot express and that must not be dropped,
   * because the request would then mean something else.
   */
  refuse(part: Part, what: string): never {
    throw refused(wirePaths.message[this.#from], `${what} (a part of type ${part.type})`)
  }
}

/** Adds dialect-specific fields to the nested objects of a request. */
function merged(wire: JsonObject, { inner = {} }: Native): JsonObject {
  const out = { ...wire }
  for (const [name, native] of Object.entries(inner)) {
    const value = out[name]
    out[name] = merged({ ...(isObject(value) && value), ...native.fields }, native)
  }
  return out
}

function refused(path: string, what: string): GatewayError {
  return new GatewayError('invalid_field_value', `${what}, which this channel does not support`, { param: path })
}
