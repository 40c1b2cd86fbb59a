import { GatewayError } from '../errors.ts'
import { inTime } from '../lib/body-time.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { readAtMost } from '../lib/read-at-most.ts'
import { type BodyLimits, tooLarge, tooSlow } from './body-limits.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Up to this length a body comes with its head or right after it; waiting for one costs a connection and no more. */
const shortBodyBytes = 64 * 1024

/** Reads and parses a JSON object body. Throws GatewayError request_too_large, request_timeout, invalid_json. */
export async function readJson(request: Request, limits: BodyLimits): Promise<{ text: string; json: JsonObject }> {
  const bytes = await readBytes(request, limits)
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch (error) {
    throw new GatewayError('invalid_json', 'the request body is not valid UTF-8', { cause: error })
  }
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new GatewayError('invalid_json', 'the request body is not valid JSON', { cause: error })
  }
  if (!isObject(json)) throw new GatewayError('invalid_json', 'the request body must be a JSON object')
  return { text, json }
}

async function readBytes(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  const { declared, timeMs } = limits
  try {
    // A declared length is enforced by the HTTP parser, so the whole can be taken at once.
    if (declared <= shortBodyBytes) return await request.bytes()
    if (declared > 0) return await inTime(request.bytes(), timeMs, tooSlow)
    const pieces = readAtMost(request.body, limits.bytes, () => tooLarge(limits.bytes))
    return await inTime(pieces, timeMs, tooSlow)
  } catch (error) {
    if (error instanceof GatewayError) throw error
    throw new GatewayError('invalid_json', 'the request body broke off', { cause: error })
  }
}
