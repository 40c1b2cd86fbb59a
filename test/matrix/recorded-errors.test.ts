import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { CallerDialect } from '../../contract/relay-paths.ts'
import { isObject, type JsonObject } from '../../server/lib/json.ts'
import { isAboutAccount, isTooLong, unavailable } from '../helpers/recorded-failures.ts'
import { type RecordingCase, sseData } from '../helpers/recordings.ts'
import { callerNames, callers } from './support/callers.ts'
import { failureIn } from './support/failures.ts'
import { casesOf, type Format, formats, mappedModels, replayed } from './support/recorded.ts'
import { model, type Rig, startMatrixRig } from './support/rig.ts'

let rig: Rig
beforeAll(async () => {
  rig = await startMatrixRig(mappedModels)
})
afterAll(() => rig[Symbol.asyncDispose]())

/** The error types of each dialect, by status. Statuses that are not listed have several types. */
const kinds: Readonly<Partial<Record<CallerDialect, Readonly<Record<number, string>>>>> = {
  'anthropic-messages': {
    400: 'invalid_request_error',
    401: 'authentication_error',
    403: 'permission_error',
    404: 'not_found_error',
    413: 'request_too_large',
    429: 'rate_limit_error',
    500: 'api_error',
    503: 'overloaded_error',
    529: 'overloaded_error',
  },
  gemini: {
    400: 'INVALID_ARGUMENT',
    401: 'UNAUTHENTICATED',
    403: 'PERMISSION_DENIED',
    404: 'NOT_FOUND',
    413: 'INVALID_ARGUMENT',
    429: 'RESOURCE_EXHAUSTED',
    500: 'INTERNAL',
    503: 'UNAVAILABLE',
    529: 'UNAVAILABLE',
  },
}

/** Error codes that services send with status 400, with the status that expresses the code's meaning. */
const tellingCodes: readonly (readonly [RegExp, number])[] = [[/model_not_found/, 404]]

/** The dialect's error type for the failure. Undefined if the dialect has several types for the status. */
function kindOf(recording: RecordingCase, format: Format, to: CallerDialect): string | undefined {
  // An error in the caller's own dialect is passed on unchanged.
  const telling = format.name !== to && tellingCodes.find(([code]) => code.test(recording.responseText))
  return kinds[to]?.[telling && recording.status === 400 ? telling[1] : recording.status]
}

/** The upstream's error message, in whatever field it is. */
function upstreamMessage(body: unknown): string | undefined {
  const top = Array.isArray(body) ? (body as unknown[])[0] : body
  if (!isObject(top)) return undefined
  const inner = isObject(top['response']) ? top['response'] : top
  const error = inner['error'] ?? top['error']
  const found = [isObject(error) ? error['message'] : error, top['message'], top['msg'], top['detail']]
  return found.find((text): text is string => typeof text === 'string' && text !== '')
}

/** The upstream's retry advice, in seconds. */
function adviceOf({ response, responseJson }: RecordingCase): string | null {
  const header = response.headers['retry-after'] ?? response.headers['Retry-After']
  if (header !== undefined) return header
  const top: unknown = Array.isArray(responseJson) ? responseJson[0] : responseJson
  const error = isObject(top) && isObject(top['error']) ? top['error'] : {}
  const details = Array.isArray(error['details']) ? (error['details'] as JsonObject[]) : []
  const delay = details.find((detail) => String(detail['@type']).endsWith('RetryInfo'))?.['retryDelay']
  return typeof delay === 'string' ? String(Math.ceil(Number.parseFloat(delay))) : null
}

async function failureOf(format: Format, recording: RecordingCase, to: CallerDialect, stream: boolean) {
  rig.answer(replayed(recording))
  const clients = await rig.through(format.setup(recording))
  try {
    await callers[to](clients, { model, text: 'Hello', stream })
  } catch (error) {
    return failureIn(error)
  }
  throw new Error(`${to} took ${recording.id} for an answer`)
}

for (const format of formats) {
  describe(`recorded errors of ${format.name} keep their meaning for every SDK`, () => {
    for (const recording of casesOf(format, { status: 'error' })) {
      for (const to of callerNames) {
        test(`${recording.id} for ${to}`, async () => {
          const before = await rig.logCount()
          const failure = await failureOf(format, recording, to, recording.stream)
          const account = isAboutAccount(recording)
          const status = account ? 503 : recording.status
          const said = account ? unavailable : (upstreamMessage(recording.responseJson) ?? 'bad response status code')
          // Each dialect has its own wording for a prompt that exceeds the context length.
          const message = isTooLong(recording)
            ? 'too long|maximum context length|maximum number of tokens'
            : escaped(said)
          expect(failure).toEqual({
            status,
            message: expect.stringMatching(new RegExp(message)),
            kind: (account ? kinds[to]?.[503] : kindOf(recording, format, to)) ?? failure.kind,
            retryAfter: adviceOf(recording),
          })
          expect(await rig.logCount()).toBe(before)
        })
      }
    }

    for (const recording of [
      ...casesOf(format, { status: 'ok', features: ['error_in_200'] }),
      ...casesOf(format, { status: 'ok', features: ['midstream_error'] }),
    ]) {
      // These recordings also contain errors of attempts that failed before the successful one.
      if (recording.provider === 'vercel-gateway') continue
      const bodies =
        recording.kind === 'json' ? [recording.responseJson] : sseData(recording).map((data) => safely(data))
      const message = bodies.map(upstreamMessage).find((text) => text !== undefined)
      for (const to of callerNames) {
        test(`${recording.id}, an error with status 200, is reported to ${to} as an error`, async () => {
          const failure = await failureOf(format, recording, to, recording.kind !== 'json')
          expect(failure.message).toContain(message ?? '')
        })
      }
    }
  })
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

function safely(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
