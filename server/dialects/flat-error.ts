import type { JsonObject } from '../lib/json.ts'

/** Some services (Spark, say) answer 200 with a message and a code of their own in place of an answer. */
export function flatError(body: JsonObject): JsonObject | undefined {
  const code = body['code'] ?? body['error_code']
  const message = [body['message'], body['msg'], body['error_msg']].find((text) => typeof text === 'string')
  return code && message ? { message, code } : undefined
}
