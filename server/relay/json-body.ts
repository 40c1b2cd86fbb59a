import { GatewayError } from '../errors.ts'
import { isObject, type JsonObject } from '../lib/json.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Reads and parses a JSON object body. Throws GatewayError request_too_large, invalid_json. */
export async function readJson(request: Request, limitBytes: number): Promise<{ text: string; json: JsonObject }> {
  const bytes = await readBytes(request, limitBytes)
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

async function readBytes(request: Request, limitBytes: number): Promise<Uint8Array> {
  const declared = Number(request.headers.get('content-length') ?? Number.NaN)
  if (declared > limitBytes) throw tooLarge(limitBytes)
  try {
    // A declared length is enforced by the HTTP parser, so the whole can be taken at once.
    if (declared >= 0) return new Uint8Array(await request.arrayBuffer())
    const parts: Uint8Array[] = []
    let length = 0
    if (request.body) {
      for await (const part of request.body) {
        length += part.length
        if (length > limitBytes) throw tooLarge(limitBytes)
        parts.push(part.slice())
      }
    }
    return Buffer.concat(parts)
  } catch (error) {
    if (error instanceof GatewayError) throw error
    throw new GatewayError('invalid_json', 'the request body broke off', { cause: error })
  }
}

function tooLarge(limitBytes: number): GatewayError {
  return new GatewayError('request_too_large', `the request is larger than ${limitBytes} bytes`)
}
