import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Frame } from '../neutral/dialect.ts'
import { looseList, looseObject } from '../neutral/fields.ts'
import type { Reply } from '../neutral/reply.ts'
import { partsOf } from '../wire/service-tier.ts'
import { encodeRequest } from './request-out.ts'
import type { stopOut } from './stop.ts'
import { usageOut } from './usage.ts'
import type { WireResponse } from './wire.ts'

/** A response before it has any output: fields repeated from the request, and fields that are known from the start. */
export function skeleton(
  frame: Frame,
  id = frame.id,
  model = frame.model,
  createdAt = frame.createdAtSeconds,
): WireResponse {
  const { request } = frame
  const { body } = encodeRequest(request)
  return {
    id: id.startsWith('resp_') ? id : `resp_${id}`,
    object: 'response',
    created_at: createdAt,
    completed_at: null,
    status: 'in_progress',
    access_programs: null,
    background: false,
    error: null,
    frequency_penalty: request.frequencyPenalty ?? 0,
    incomplete_details: null,
    instructions: body['instructions'] ?? null,
    max_output_tokens: request.maxTokens ?? null,
    // Upstreams with other dialects do not support a limit on tool calls.
    max_tool_calls: null,
    metadata: (request.metadata ?? {}) as WireResponse['metadata'],
    model,
    output: [],
    parallel_tool_calls: request.parallelTools ?? true,
    presence_penalty: request.presencePenalty ?? 0,
    previous_response_id: null,
    prompt_cache_key: request.cacheKey ?? null,
    prompt_cache_retention: (request.cacheRetention ?? null) as WireResponse['prompt_cache_retention'],
    reasoning: wholeReasoning(body['reasoning']),
    safety_identifier: request.userId ?? null,
    service_tier: typeof body['service_tier'] === 'string' ? body['service_tier'] : 'auto',
    // The response is not stored, so it cannot be retrieved by its id.
    store: false,
    // These are the service's defaults for requests that set no value.
    temperature: request.temperature ?? 1,
    text: wholeText(body['text']),
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: looseList(body['tools']).map(wholeTool),
    top_logprobs: request.topLogprobs ?? 0,
    top_p: request.topP ?? 1,
    truncation: 'disabled',
    usage: null,
  }
}

function wholeReasoning(value: unknown): WireResponse['reasoning'] {
  const reasoning = looseObject(value)
  return { ...reasoning, effort: reasoning['effort'] ?? null, summary: reasoning['summary'] ?? null }
}

function wholeText(value: unknown): WireResponse['text'] {
  const text = looseObject(value)
  const format = isObject(text['format']) ? text['format'] : { type: 'text' }
  if (format['type'] !== 'json_schema') return { ...text, format }
  const { description = null, strict = false } = format
  return { ...text, format: { ...format, description, strict } }
}

/** A tool of the request with the fields that the service adds. */
function wholeTool(tool: JsonObject): JsonObject {
  switch (tool['type']) {
    case 'function':
      // A schema that the caller did not mark as strict is not enforced by other services.
      return { ...tool, description: tool['description'] ?? null, strict: tool['strict'] ?? false }
    case 'custom':
      return { ...tool, format: tool['format'] ?? { type: 'text' } }
    case 'web_search':
      return { filters: null, search_context_size: 'medium', user_location: null, ...tool }
    default:
      return tool
  }
}

/** A response that has ended. */
export function finished(
  response: WireResponse,
  { status, incomplete_details }: ReturnType<typeof stopOut>,
  { usage }: Pick<Reply, 'usage'>,
  frame: Frame,
): WireResponse {
  return {
    ...counted(response, usage),
    status,
    incomplete_details,
    completed_at: status === 'completed' ? Math.max(response.created_at, frame.nowSeconds()) : null,
  }
}

/** A response with its usage. The service tier is a separate field. */
export function counted(response: WireResponse, usage: Reply['usage']): WireResponse {
  const tier = usage?.tier === undefined ? undefined : partsOf(usage.tier).tier
  return { ...response, usage: usage ? usageOut(usage) : null, service_tier: tier ?? 'default' }
}
