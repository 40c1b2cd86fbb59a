import type { Context } from 'hono'

/** Answers what nothing serves under /api, /v1 and beside, in the error shape of whose API is asked for; else in OpenAI's. */
export function unknownPath(c: Context): Response {
  const { path } = c.req
  const message = `Invalid URL (${c.req.method} ${path})`
  c.header('X-Content-Type-Options', 'nosniff')
  if (/^\/(?:upload|v1beta|v1alpha)\//.test(path))
    return c.json({ error: { code: 404, message, status: 'NOT_FOUND' } }, 404)
  if (path.startsWith('/v1/') && (c.req.header('anthropic-version') || c.req.header('x-api-key')))
    return c.json({ type: 'error', error: { type: 'not_found_error', message } }, 404)
  return c.json({ error: { message, type: 'invalid_request_error', param: '', code: '' } }, 404)
}
