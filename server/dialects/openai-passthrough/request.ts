import type { RelayMode } from '../../../contract/relay-modes.ts'
import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { refuseScheme } from '../neutral/address-scheme.ts'
import type { PromptText, RequestFacts } from '../neutral/dialect.ts'
import { choicesLimit, maxTokensLimit, modelLimit } from '../neutral/request-limits.ts'
import { requestedTier } from '../wire/service-tier.ts'
import { chatPrompt, fieldPrompt, rerankPrompt } from './prompt.ts'

/** The default models for requests that name none, as in one-api and in OpenAI's API. */
const defaultModels: Partial<Record<RelayMode, string>> = {
  moderations: 'text-moderation-latest',
  images: 'dall-e-2',
  'image-edits': 'dall-e-2',
  'image-variations': 'dall-e-2',
  transcriptions: 'whisper-1',
  translations: 'whisper-1',
}

/**
 * Reads the facts that the gateway needs from a JSON request. Refuses a request that no upstream could serve. All other
 * fields are passed on unchecked, because the upstream checks its own fields. Throws GatewayError with the field's name
 * as `param`.
 */
export function readRequest(mode: RelayMode, body: JsonObject, pathModel?: string): RequestFacts {
  const model = readModel(mode, body, pathModel)
  if (mode.startsWith('image')) for (const name of imageFields) refuseSchemesIn(body[name])
  const stream = optional(body, 'stream', 'boolean') ?? false
  const streamOptions = body['stream_options']
  const tier = body['service_tier'] === undefined ? undefined : requestedTier(body['service_tier'])
  return {
    model,
    stream,
    wantsStreamUsage: isObject(streamOptions) && streamOptions['include_usage'] === true,
    maxTokens: readMaxTokens(mode, body),
    choices: readChoices(mode, body),
    asksToReason: asksToReason(body) || undefined,
    outputs: Array.isArray(body['modalities']) ? namesIn(body['modalities']) : undefined,
    tier,
    prompt: readPrompt(mode, body),
  }
}

/** JSON fields for images to edit or to use as a reference. */
const imageFields = ['image', 'images', 'image_url', 'mask', 'reference_images']

function refuseSchemesIn(value: unknown): void {
  refuseScheme(value)
  if (Array.isArray(value)) for (const each of value as unknown[]) refuseSchemesIn(each)
  else if (isObject(value)) for (const name in value) refuseScheme(value[name])
}

function readModel(mode: RelayMode, body: JsonObject, pathModel: string | undefined): string {
  const model = body['model'] ?? pathModel
  if (model === undefined || model === null || model === '') {
    const fallback = defaultModels[mode]
    if (fallback !== undefined) return fallback
    throw missing('model')
  }
  if (typeof model !== 'string') throw wrongType('model', 'a string')
  if (model.length > modelLimit)
    throw new GatewayError('invalid_field_value', `model is longer than ${modelLimit} characters`, { param: 'model' })
  return model
}

function readMaxTokens(mode: RelayMode, body: JsonObject): number | undefined {
  if (mode !== 'chat' && mode !== 'completions') return undefined
  // If a request has both fields, some services use one and some the other. The hold therefore uses the larger value.
  let most = 0
  for (const field of ['max_completion_tokens', 'max_tokens']) {
    const value = body[field]
    if (value === undefined || value === null) continue
    if (typeof value !== 'number' || !Number.isInteger(value)) throw wrongType(field, 'a whole number')
    if (value < 0 || value >= maxTokensLimit) {
      throw new GatewayError('invalid_field_value', `${field} must be from 0 to ${maxTokensLimit - 1}`, {
        param: field,
      })
    }
    most = Math.max(most, value)
  }
  return most > 0 ? most : undefined
}

function readChoices(mode: RelayMode, body: JsonObject): number {
  if (mode !== 'chat' && mode !== 'completions') return 1
  let choices = 1
  for (const field of mode === 'completions' ? ['n', 'best_of'] : ['n']) {
    const value = body[field]
    if (value === undefined || value === null) continue
    if (typeof value !== 'number' || !Number.isInteger(value)) throw wrongType(field, 'a whole number')
    if (value < 1 || value > choicesLimit) {
      throw new GatewayError('invalid_field_value', `${field} must be from 1 to ${choicesLimit}`, { param: field })
    }
    choices = Math.max(choices, value)
  }
  const prompt = body['prompt']
  const prompts = mode === 'completions' && Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt.length : 1
  return choices * Math.max(1, prompts)
}

/**
 * True if the request enables thinking. Reads OpenAI's field, OpenRouter's field, and the field of services that
 * adopted Anthropic's.
 */
function asksToReason(body: JsonObject): boolean {
  const { reasoning_effort: effort, reasoning, thinking } = body
  // Most requests have none of these fields.
  if (effort === undefined && reasoning === undefined && thinking === undefined) return false
  const wishes = [reasoning, thinking].filter(isObject)
  const isOff = wishes.some(
    ({ type, enabled, effort: own }) => type === 'disabled' || enabled === false || own === 'none',
  )
  return (typeof effort === 'string' && effort !== 'none') || (wishes.length > 0 && !isOff)
}

function readPrompt(mode: RelayMode, body: JsonObject): PromptText {
  switch (mode) {
    case 'chat':
      return chatPrompt(required(body, 'messages'), body)
    case 'completions':
      return fieldPrompt(required(body, 'prompt'), 'prompt', body)
    case 'embeddings':
    case 'moderations':
      return fieldPrompt(required(body, 'input'), 'input', body)
    case 'rerank':
      return rerankPrompt(required(body, 'query'), required(body, 'documents'), body)
    case 'speech': {
      const input = required(body, 'input')
      if (typeof input !== 'string') throw wrongType('input', 'a string')
      // Instructions on how to speak are also input for the model, and some services even read them aloud.
      const { instructions } = body
      return { texts: typeof instructions === 'string' ? [input, instructions] : [input], fixedTokens: 0 }
    }
    case 'images': {
      const prompt = body['prompt']
      if (prompt === undefined || prompt === null || prompt === '') {
        throw new GatewayError('prompt_missing', 'prompt is required', { param: 'prompt' })
      }
      if (typeof prompt !== 'string') throw wrongType('prompt', 'a string')
      return { texts: [prompt], fixedTokens: 0 }
    }
    default:
      return { texts: [], fixedTokens: 0 }
  }
}

function required(body: JsonObject, field: string): unknown {
  const value = body[field]
  if (value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0))
    throw missing(field)
  return value
}

function optional(body: JsonObject, field: string, type: 'boolean'): boolean | undefined {
  const value = body[field]
  if (value === undefined || value === null) return undefined
  if (typeof value !== type) throw wrongType(field, `a ${type}`)
  return value as boolean
}

function missing(field: string): GatewayError {
  return new GatewayError('required_field_missing', `${field} is required`, { param: field })
}

function wrongType(field: string, expected: string): GatewayError {
  return new GatewayError('invalid_field_value', `${field} must be ${expected}`, { param: field })
}

function namesIn(list: readonly unknown[]): string[] {
  return list.flatMap((each) => (typeof each === 'string' ? each.toLowerCase() : []))
}
