import { GatewayError } from '../errors.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import type { Conversation, DialectName, Native, Part } from './conversation.ts'

type Named = Record<DialectName, string>

const named = (chat: string, responses: string, messages: string, gemini: string): Named => ({
  'openai-chat': chat,
  'openai-responses': responses,
  'anthropic-messages': messages,
  gemini,
})
const config = (name: string) => `generationConfig.${name}`

/** What each dialect calls a thing that another cannot say; the caller is told by its own name. */
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
  speaker: named('messages.name', '', '', ''),
  thought: named('messages.reasoning_content', 'input.reasoning', 'messages.thinking', 'contents.thought'),
} as const satisfies Record<string, Named>

/** What callers of a dialect call the thoughts of earlier turns. */
export function nameOfThoughts(dialect: DialectName): string {
  return wireNames.thought[dialect]
}

/** What a conversation asks for by a field that not every dialect has; undefined where it asks for nothing special. */
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
  output: ({ output }) => output?.modalities.find((each) => each !== 'text'),
} as const satisfies Partial<Record<keyof typeof wireNames, (conversation: Conversation) => unknown>>

type Wish = keyof typeof wishes

/** Fields that mean something kept at a service: without them the request would be another one. */
const stateful: ReadonlySet<string> = new Set([
  'previous_response_id',
  'conversation',
  'background',
  'prompt',
  'cachedContent',
])

/** Said of the dialect's own surroundings; nothing of the meaning goes with them. */
const harmless: ReadonlySet<string> = new Set([
  'store',
  'include',
  'stream_options',
  'usage',
  'anthropic_version',
  'anthropic_beta',
  'id',
  'status',
  'type',
  'index',
  'message',
])

/** Where a member stands, in each dialect's own words. */
const places = {
  part: named('messages.content', 'input.content', 'messages.content', 'contents.parts'),
  message: named('messages', 'input', 'messages', 'contents'),
  tool: named('tools', 'tools', 'tools', 'tools'),
} as const

/** Objects of which a part is known to every dialect. */
const nested: ReadonlySet<string> = new Set(['reasoning', 'text', 'generationConfig', 'toolConfig'])

/** What a request loses on its way into another dialect, by the names that its caller used. */
export class Losses {
  readonly #from: DialectName
  readonly #to: DialectName | (string & {})
  readonly #names = new Set<string>()

  constructor(conversation: Conversation, to: DialectName | (string & {})) {
    this.#from = conversation.from
    this.#to = to
  }

  /** True when the upstream speaks another dialect than the caller, so that ids of one service mean nothing there. */
  get isForeign(): boolean {
    return this.#from !== this.#to
  }

  /** The names, each once. */
  get names(): readonly string[] {
    return [...this.#names]
  }

  /** Notes that something known was left out; `given` undefined means there was nothing to lose. */
  lose(what: keyof typeof wireNames, given: unknown): void {
    const name = wireNames[what][this.#from]
    if (given !== undefined && name !== '') this.#names.add(name)
  }

  /** Notes every field by which the caller asked for something, but for those that the dialect has. */
  loseWishesBut(conversation: Conversation, ...said: readonly Wish[]): void {
    for (const name of Object.keys(wishes) as Wish[])
      if (!said.includes(name)) this.lose(name, wishes[name](conversation))
  }

  /**
   * Members of one dialect only: to be written where that is the dialect of the upstream, else noted. Throws
   * GatewayError for what cannot be left out.
   */
  native(native: Native | undefined, within?: keyof typeof places): JsonObject {
    if (!native) return {}
    if (native.dialect === this.#to) return native.fields
    const place = within ? places[within][this.#from] : ''
    for (const [name, value] of Object.entries(native.fields)) {
      const path = place === '' ? name : `${place}.${name}`
      if (place === '' && stateful.has(name) && value !== false) throw refused(path, `${path} is kept at a service`)
      if (nested.has(path) && isObject(value))
        for (const inner of Object.keys(value)) this.#names.add(`${path}.${inner}`)
      else if (!harmless.has(name)) this.#names.add(path)
    }
    return {}
  }

  /** A tool or part of one dialect only, by the name of its kind. */
  foreign(value: JsonObject, place: keyof typeof places): void {
    const kind = typeof value['type'] === 'string' ? value['type'] : Object.keys(value).join('+')
    this.#names.add(`${places[place][this.#from]}.${kind}`)
  }

  /** Refuses a part without which the question would be another one. */
  refuse(part: Part, what: string): never {
    throw refused(places.message[this.#from], `${what} (a part of type ${part.type})`)
  }
}

function refused(path: string, what: string): GatewayError {
  return new GatewayError('invalid_field_value', `${what}, which this channel cannot be given`, { param: path })
}
