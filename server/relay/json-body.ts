import { GatewayError } from '../errors.ts'
import { inTime } from '../lib/body-time.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { readAtMost } from '../lib/read-at-most.ts'
import { type BodyLimits, tooLarge, tooSlow } from './body-limits.ts'
import type { RelayDeps } from './deps.ts'
import type { IdleWait } from './idle-watch.ts'
import { shuttingDown } from './shutting-down.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Up to this length a body comes with its head or right after it; a timer for each would cost more than reading it. */
const shortBodyBytes = 64 * 1024

type Watch = Pick<RelayDeps, 'idleWatch' | 'clock'>

/** Reads and parses a JSON object body. Throws GatewayError request_too_large, request_timeout, invalid_json. */
export async function readJson(
  request: Request,
  limits: BodyLimits,
  watch: Watch,
): Promise<{ text: string; json: JsonObject }> {
  const bytes = await readBytes(request, limits, watch)
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

async function readBytes(request: Request, limits: BodyLimits, watch: Watch): Promise<Uint8Array> {
  const { declared, timeMs } = limits
  try {
    // A declared length is enforced by the HTTP parser, so the whole can be taken at once.
    if (declared <= shortBodyBytes) return await readShort(request, timeMs, watch)
    if (declared > 0) return await inTime(request.bytes(), timeMs, tooSlow)
    const pieces = readAtMost(request.body, limits.bytes, () => tooLarge(limits.bytes))
    return await inTime(pieces, timeMs, tooSlow)
  } catch (error) {
    if (error instanceof GatewayError) throw error
    throw new GatewayError('invalid_json', 'the request body broke off', { cause: error })
  }
}

function readShort(request: Request, timeMs: number, { idleWatch, clock }: Watch): Promise<Uint8Array> {
  if (timeMs <= 0) return request.bytes()
  return new Promise((resolve, reject) => {
    const over = () => idleWatch.remove(wait)
    const wait: IdleWait = {
      dueAtMs: clock.nowMs() + timeMs,
      due() {
        over()
        reject(tooSlow())
      },
      cut() {
        over()
        reject(shuttingDown())
      },
    }
    idleWatch.add(wait)
    request.bytes().then(resolve, reject).finally(over)
  })
}
