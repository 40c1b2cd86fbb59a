import type { Context } from 'hono'

/** Answers what nothing serves under /api and /v1, in OpenAI's error shape. */
export function unknownPath(c: Context): Response {
  const message = `Invalid URL (${c.req.method} ${c.req.path})`
  c.header('X-Content-Type-Options', 'nosniff')
  return c.json({ error: { message, type: 'invalid_request_error', param: '', code: '' } }, 404)
}
