import type { Context } from 'hono'

/** Answers what nothing serves under /api, /v1 and beside. `dialect`: of whoever asks, where the path does not tell it. */
export function unknownPath(
  c: Context,
  dialect: 'openai-chat' | 'anthropic-messages' | 'gemini' = 'openai-chat',
): Response {
  const { path } = c.req
  const message = `Invalid URL (${c.req.method} ${path})`
  c.header('X-Content-Type-Options', 'nosniff')
  if (dialect === 'gemini' || /^\/(?:upload|v1beta|v1alpha)\//.test(path))
    return c.json({ error: { code: 404, message, status: 'NOT_FOUND' } }, 404)
  if (dialect === 'anthropic-messages')
    return c.json({ type: 'error', error: { type: 'not_found_error', message } }, 404)
  return c.json({ error: { message, type: 'invalid_request_error', param: '', code: '' } }, 404)
}
