import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject, stringify, tryParse } from '../../lib/json.ts'
import type { JsonBody } from '../body/json-body.ts'
import { jsonLimits } from '../body/json-limits.ts'
import type { Turn } from './turn-memory.ts'

/** A message that creates a response, as the body of a call. */
export interface TurnBody {
  body: JsonBody
  /** The complete input, including the conversation that the message continues. */
  input: unknown[]
  containers: number
  /** False if the message only announces the input from which the next turn will continue. */
  generates: boolean
}

/**
 * The body of a call for a `response.create` message (OpenAI docs, "WebSocket mode"). `find` returns the response that
 * the socket remembers under an id. If the socket does not remember the response, the service may have stored it.
 * Throws GatewayError (400).
 */
export function turnBody(read: JsonBody, find: (id: string) => Turn | undefined): TurnBody {
  const { type: _type, stream_id: _stream, generate, background, stream: _streamed, ...json } = read.json
  if (background === true)
    throw new GatewayError('invalid_field_value', 'background is not supported over a WebSocket: use POST', {
      param: 'background',
    })
  const previous = json['previous_response_id']
  const before = typeof previous === 'string' ? find(previous) : undefined
  const input = [...itemsIn(before), ...listed(json['input'])]
  const containers = (read.containers ?? 0) + (before?.containers ?? 0)
  if (containers > jsonLimits.containers)
    throw new GatewayError(
      'request_too_complex',
      'the conversation on this WebSocket has become too long: open another connection',
    )
  const { previous_response_id: _known, ...whole } = json
  const complete: JsonObject = { ...(before ? { ...whole, input } : json), stream: true }
  const text = stringify(complete)
  return { body: { kind: 'json', json: complete, text, containers }, input, containers, generates: generate !== false }
}

function itemsIn(turn: Turn | undefined): unknown[] {
  const items = turn && tryParse(turn.items)
  return Array.isArray(items) ? items : []
}

function listed(input: unknown): unknown[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  return Array.isArray(input) ? input : []
}

/**
 * The conversation after a response, for the next turn. If the service neither returned its reasoning in encrypted form
 * nor stored it, the reasoning is omitted, because nobody knows its content.
 */
export function conversationAfter({ input, body }: TurnBody, response: JsonObject): string {
  const output: unknown[] = Array.isArray(response['output']) ? response['output'] : []
  const isStored = body.json['store'] !== false
  const known = output.filter(
    (item) =>
      isStored || !isObject(item) || item['type'] !== 'reasoning' || typeof item['encrypted_content'] === 'string',
  )
  return stringify([...input, ...known])
}

/**
 * The events of the response to a message that only announces input (see `generates`). Nothing is generated or charged.
 */
export function announced(id: string, { body: { json } }: TurnBody, createdAtSeconds: number): string[] {
  const response = {
    id,
    object: 'response',
    created_at: createdAtSeconds,
    status: 'in_progress',
    model: json['model'] ?? '',
    output: [],
    usage: null,
  }
  const none = { cached_tokens: 0 }
  const usage = {
    input_tokens: 0,
    input_tokens_details: none,
    output_tokens: 0,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 0,
  }
  return [
    { type: 'response.created', sequence_number: 0, response },
    { type: 'response.completed', sequence_number: 1, response: { ...response, status: 'completed', usage } },
  ].map((event) => JSON.stringify(event))
}
