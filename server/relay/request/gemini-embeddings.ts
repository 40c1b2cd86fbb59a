import { embedRequestIn, embedResponseOut } from '../../dialects/gemini/embeddings.ts'
import { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { CallBody } from '../call/call.ts'
import type { CallRoute } from '../call/call-routes.ts'

/** The body of a Gemini embeddings call in OpenAI's format. Throws GatewayError (400). */
export function embeddingsIn(body: CallBody, { model = '', embeds }: CallRoute): CallBody {
  if (body.kind === 'form') throw new GatewayError('invalid_json', 'the request body must be a JSON object')
  const json = embedRequestIn(body.json, model, embeds === 'batch')
  return { kind: 'json', text: JSON.stringify(json), json }
}

/**
 * Converts OpenAI's response into Gemini's format. Errors do not reach this function, because they are thrown earlier.
 * The response for a caller who has disconnected has no body, and is returned unchanged.
 */
export async function embeddingsOut(response: Response, embeds: 'one' | 'batch'): Promise<Response> {
  if (!response.ok) return response
  const body = embedResponseOut((await response.json()) as JsonObject, embeds === 'batch')
  const headers = new Headers(response.headers)
  headers.delete('content-length')
  return new Response(JSON.stringify(body), { status: response.status, headers })
}
