import { type ErrorCode, errorTable } from '../../errors.ts'
import { errorWords } from './error-words.ts'
import type { Example, JsonSchema, Reference } from './types.ts'

/** The body of every relay error. */
export const relaySchemas: Record<string, JsonSchema> = {
  RelayError: {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: {
          message: { type: 'string', description: 'Message for people; ends with the id of the request.' },
          type: { type: ['string', 'null'] },
          param: { type: ['string', 'null'], description: 'The field that caused the error, if there is one.' },
          code: {
            type: ['string', 'integer', 'null'],
            description: 'Error code for programs. An upstream may have its own codes.',
          },
        },
        required: ['message', 'type', 'param', 'code'],
      },
    },
    required: ['error'],
    additionalProperties: false,
  },
  MessagesError: {
    type: 'object',
    properties: {
      type: { const: 'error' },
      error: {
        type: 'object',
        properties: { type: { type: 'string' }, message: { type: 'string' } },
        required: ['type', 'message'],
      },
      request_id: { type: 'string', description: 'The id of the request.' },
    },
    required: ['type', 'error'],
    additionalProperties: false,
  },
  GeminiError: {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: {
          code: { type: 'integer' },
          message: { type: 'string' },
          status: { type: 'string' },
          details: { type: 'array' },
        },
        required: ['code', 'message', 'status'],
      },
    },
    required: ['error'],
    additionalProperties: false,
  },
}

type ErrorSchema = 'RelayError' | 'MessagesError' | 'GeminiError'

/** The schema of the errors of a path. Errors have the format that clients of the call's dialect expect. */
export function errorSchema(path: string): ErrorSchema {
  if (path.startsWith('/v1beta/')) return 'GeminiError'
  return path.startsWith('/v1/messages') ? 'MessagesError' : 'RelayError'
}

const exampleId = '20260728120000123456789abcdefghi'

/** The body of an error in a dialect. A test compares it with the responses of a gateway. */
function bodyOf(schema: ErrorSchema, code: ErrorCode): unknown {
  const { status, type } = errorTable[code]
  const message = errorWords[code]
  if (schema === 'RelayError') {
    return { error: { message: `${message} (request id: ${exampleId})`, type, param: '', code } }
  }
  if (schema === 'MessagesError')
    return { type: 'error', error: { type: messagesType(status), message }, request_id: exampleId }
  const details = [{ '@type': 'type.googleapis.com/google.rpc.RequestInfo', requestId: exampleId }]
  return { error: { code: status, message, status: geminiStatus(status), details } }
}

/** The type of an error in Anthropic's API for a status (Anthropic API reference, "Errors"). */
function messagesType(status: number): string {
  const types: Record<number, string> = {
    401: 'authentication_error',
    403: 'permission_error',
    404: 'not_found_error',
    408: 'timeout_error',
    413: 'request_too_large',
    429: 'rate_limit_error',
    503: 'overloaded_error',
    504: 'timeout_error',
  }
  return types[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
}

/** The name of a status in Google's APIs (google.rpc.Code). */
function geminiStatus(status: number): string {
  const names: Record<number, string> = {
    401: 'UNAUTHENTICATED',
    403: 'PERMISSION_DENIED',
    404: 'NOT_FOUND',
    408: 'DEADLINE_EXCEEDED',
    429: 'RESOURCE_EXHAUSTED',
    501: 'UNIMPLEMENTED',
    503: 'UNAVAILABLE',
    504: 'DEADLINE_EXCEEDED',
  }
  return names[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL')
}

const codes = Object.keys(errorTable) as ErrorCode[]

/** An example for each error code in each dialect. */
export const errorExamples: Readonly<Record<string, Example>> = Object.fromEntries(
  (['RelayError', 'MessagesError', 'GeminiError'] as const).flatMap((schema) =>
    codes
      .filter((code) => errorTable[code].status > 0)
      .map((code) => [`${schema}.${code}`, { summary: errorWords[code], value: bodyOf(schema, code) }]),
  ),
)

/** References to the examples of these codes, by code. */
export function examplesOf(path: string, which: readonly ErrorCode[]): Record<string, Reference> {
  return Object.fromEntries(which.map((code) => [code, { $ref: `#/components/examples/${errorSchema(path)}.${code}` }]))
}
