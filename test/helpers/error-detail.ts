import { isObject } from '../../server/lib/json.ts'

/** Reads the error type and the message from an error body in any dialect. The type is in the dialect's own terms. */
export function errorDetail(text: string): { kind: unknown; message: string } {
  const body: unknown = JSON.parse(text)
  const error = isObject(body) && isObject(body['error']) ? body['error'] : {}
  const isAnthropics = isObject(body) && body['type'] === 'error'
  return {
    kind: isAnthropics ? error['type'] : (error['status'] ?? error['code']),
    message: typeof error['message'] === 'string' ? error['message'] : '',
  }
}
