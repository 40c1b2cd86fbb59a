import type { JsonObject } from '../../lib/json.ts'
import { fixesSampling } from '../models/openai-model.ts'
import type { CacheMark, Conversation, DialectName, Effort, SearchTool } from '../neutral/conversation.ts'
import { efforts } from '../neutral/conversation.ts'
import type { Fields } from '../neutral/fields.ts'
import type { DroppedFields } from '../wire/dropped-fields.ts'

/** The settings that have the same names in OpenAI's two dialects. */
export function commonIn(body: Fields): Partial<Conversation> {
  // `user` is the older name, and other services support only this one.
  const userId = body.text('user') ?? body.text('safety_identifier')
  const metadata = body.object('metadata')
  const tier = tierIn(body)
  const cacheKey = body.text('prompt_cache_key')
  const retention = body.text('prompt_cache_retention')
  return {
    temperature: body.number('temperature'),
    topP: body.number('top_p'),
    parallelTools: body.flag('parallel_tool_calls'),
    topLogprobs: body.count('top_logprobs'),
    ...(userId && { userId }),
    ...(metadata && Object.keys(metadata).length > 0 && { metadata }),
    ...(tier && { serviceTier: tier }),
    ...(cacheKey && { cacheKey }),
    ...(retention && { cacheRetention: retention }),
  }
}

/**
 * The service tier, if other dialects also have it. Any other tier counts as an unread field, so only the caller's own
 * dialect writes it back.
 */
function tierIn(body: Fields): Conversation['serviceTier'] {
  const known = body.knownWord('service_tier', ['auto', 'default', 'standard', 'flex', 'priority'])
  return known === 'default' ? 'standard' : known
}

/** The settings that `commonIn` reads, written for an upstream. */
export function commonOut(conversation: Conversation, dropped: DroppedFields): JsonObject {
  const { serviceTier, parallelTools, tools } = conversation
  dropped.lose('topK', conversation.topK)
  dropped.lose('cache', conversation.cache)
  return {
    ...samplingOut(conversation, dropped),
    parallel_tool_calls: tools.length > 0 || !dropped.isForeign ? parallelTools : undefined,
    top_logprobs: conversation.topLogprobs,
    user: conversation.userId,
    metadata: conversation.metadata,
    service_tier: serviceTier === 'standard' ? 'default' : serviceTier,
    prompt_cache_key: conversation.cacheKey,
    prompt_cache_retention: conversation.cacheRetention,
  }
}

/**
 * The temperature and top_p. Some models refuse them. Callers of other dialects cannot be expected to know these
 * models, so the values are dropped. Callers of OpenAI's dialects get OpenAI's own error.
 */
function samplingOut(conversation: Conversation, dropped: DroppedFields): JsonObject {
  const { temperature, topP } = conversation
  if (!dropped.isForeign || !isFixed(conversation)) return { temperature, top_p: topP }
  dropped.lose('temperature', temperature === 1 ? undefined : temperature)
  dropped.lose('topP', topP === 1 ? undefined : topP)
  return {}
}

/** True if the model thinks and therefore accepts no temperature, top_p or penalties. */
export function isFixed({ model, reasoning }: Conversation): boolean {
  return fixesSampling(model) && reasoning?.effort !== 'none'
}

/** The effort in a field. With null or "auto", the model decides. */
export function effortIn(owner: Fields, name: string): Effort | undefined {
  const word = owner.word(name, [...efforts, 'auto'] as const)
  return word === 'auto' ? undefined : word
}

/** A cache breakpoint, either in OpenAI's format or in Anthropic's, which other services adopted. */
export function cacheIn(owner: Fields): { cache?: CacheMark } {
  const own = owner.object('prompt_cache_breakpoint')
  const theirs = owner.fields('cache_control')
  if (theirs) return { cache: { ttl: theirs.text('ttl') ?? '' } }
  return own ? { cache: { ttl: '' } } : {}
}

/**
 * The options of OpenAI's web search. In the chat dialect they are a separate field. In the Responses dialect they are
 * one of the tools.
 */
export function searchIn(options: Fields, dialect: DialectName): SearchTool {
  const contextSize = options.text('search_context_size')
  const location = options.object('user_location')
  const filters = options.fields('filters')
  const allowed = filters?.texts('allowed_domains')
  const blocked = filters?.texts('blocked_domains')
  // The chat dialect puts the location into a separate object.
  const approximate = location?.['approximate']
  const userLocation = typeof approximate === 'object' && approximate !== null ? (approximate as JsonObject) : location
  const { type: _type, ...rest } = userLocation ?? {}
  return {
    type: 'web-search',
    ...(contextSize && { contextSize }),
    ...(userLocation && { location: rest }),
    ...(allowed && { allowedDomains: allowed }),
    ...(blocked && { blockedDomains: blocked }),
    ...options.native(dialect),
  }
}
