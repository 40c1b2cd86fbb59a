import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { CallBody } from '../call/call.ts'
import type { CallRoute } from '../call/call-routes.ts'

/** A Gemini embeddings request (Gemini API, "Embeddings") in OpenAI's format. Throws GatewayError (400). */
export function embeddingsIn(body: CallBody, { model = '', embeds }: CallRoute): CallBody {
  if (body.kind === 'form') throw new GatewayError('invalid_json', 'the request body must be a JSON object')
  const { json } = body
  const requests: unknown = embeds === 'batch' ? json['requests'] : [json]
  if (!Array.isArray(requests) || requests.length === 0) throw wrong('requests', 'a list of requests')
  const each = (requests as unknown[]).map((request) => {
    if (!isObject(request)) throw wrong('requests', 'a list of objects')
    return request
  })
  const [first] = each
  const dimensions = settingOf(first, 'outputDimensionality', 'output_dimensionality')
  const task = settingOf(first, 'taskType', 'task_type')
  const openai: JsonObject = {
    model,
    input: each.map(textOf),
    ...(typeof dimensions === 'number' && { dimensions }),
    ...(typeof task === 'string' && { task_type: task }),
  }
  return { kind: 'json', text: JSON.stringify(openai), json: openai }
}

function settingOf(request: JsonObject | undefined, name: string, otherName: string): unknown {
  const config = request?.['embedContentConfig'] ?? request?.['config']
  return request?.[name] ?? request?.[otherName] ?? (isObject(config) ? config[name] : undefined)
}

function textOf(request: JsonObject): string {
  const content = request['content']
  const parts: unknown = isObject(content) ? content['parts'] : undefined
  if (!Array.isArray(parts)) throw wrong('content.parts', 'a list of parts')
  const texts = (parts as unknown[]).map((part) => (isObject(part) ? part['text'] : undefined))
  if (texts.some((text) => typeof text !== 'string')) throw wrong('content.parts', 'a list of texts')
  return texts.join('')
}

/** OpenAI's response in Gemini's format. Errors have already been thrown by this point. */
export async function embeddingsOut(response: Response, embeds: 'one' | 'batch'): Promise<Response> {
  const answer = (await response.json()) as JsonObject
  const list = Array.isArray(answer['data']) ? (answer['data'] as unknown[]) : []
  const embeddings = list.map((each) => ({ values: isObject(each) ? each['embedding'] : [] }))
  const headers = new Headers(response.headers)
  headers.delete('content-length')
  const body = embeds === 'one' ? { embedding: embeddings[0] ?? { values: [] } } : { embeddings }
  return new Response(JSON.stringify(body), { status: response.status, headers })
}

function wrong(field: string, expected: string): GatewayError {
  return new GatewayError('invalid_field_value', `${field} must be ${expected}`, { param: field })
}
