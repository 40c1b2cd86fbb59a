import type { AppContext } from './app-env.ts'

/**
 * Responds to a request for an unknown path, for example under /api or /v1, in the caller's dialect and with the
 * request id header that the caller expects. `dialect` is the caller's dialect if the path does not determine it.
 */
export function unknownPath(
  c: AppContext,
  dialect: 'openai-chat' | 'anthropic-messages' | 'gemini' = 'openai-chat',
): Response {
  const { path } = c.req
  const id = c.get('requestId')
  const message = `Invalid URL (${c.req.method} ${path})`
  c.header('X-Content-Type-Options', 'nosniff')
  c.header('X-Should-Retry', 'false')
  c.header(dialect === 'anthropic-messages' ? 'request-id' : 'x-request-id', id)
  if (dialect === 'gemini' || /^\/(?:upload|v1beta|v1alpha)(?:\/|$)/.test(path))
    return c.json({ error: { code: 404, message: `${message} (request id: ${id})`, status: 'NOT_FOUND' } }, 404)
  if (dialect === 'anthropic-messages')
    return c.json({ type: 'error', error: { type: 'not_found_error', message }, request_id: id }, 404)
  const error = { message: `${message} (request id: ${id})`, type: 'invalid_request_error', param: '', code: '' }
  return c.json({ error }, 404)
}
