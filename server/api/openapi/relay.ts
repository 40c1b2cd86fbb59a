import { type RelayCallText, relayCalls, responsesSocket } from '../../../contract/relay-calls.ts'
import {
  dialectPaths,
  dialectReads,
  enginePath,
  realtimePath,
  relayPaths,
  relayReads,
  responsesSocketPath,
  storedPaths,
} from '../../../contract/relay-paths.ts'
import { storedCalls } from '../../../contract/stored-calls.ts'
import { type ErrorCode, errorTable } from '../../errors.ts'
import { formExamples, relayExamples } from './examples.ts'
import { headersNamed, limitHeaderNames } from './headers.ts'
import type { SchemaWriter } from './json-schema.ts'
import { json, type PathOperation } from './management.ts'
import { errorSchema, examplesOf } from './relay-errors.ts'
import { modelsTag, relayTag } from './tags.ts'
import type { Content, Operation, Parameter, ResponseObject } from './types.ts'

/** Error codes of calls that take no quota and send nothing upstream. */
const readCodes: readonly ErrorCode[] = [
  'invalid_token',
  'token_exhausted',
  'token_expired',
  'token_unavailable',
  'ip_not_allowed',
  'user_banned',
  'channel_choice_not_allowed',
  'invalid_channel_id',
  'channel_disabled',
  'database_unavailable',
  'shutting_down',
  'loop_detected',
  'internal_error',
]

/** Error codes that only some calls return. All other codes can be returned by every relayed call. */
const special: Partial<Record<ErrorCode, (path: string, text: RelayCallText) => boolean>> = {
  model_not_found: (path) => path === '/v1/models/{model}' || path === '/v1beta/models/{model}',
  invalid_multipart: (_, { form }) => form !== undefined,
  storage_unavailable: (_, { form }) => form !== undefined,
  prompt_missing: (path) => path.startsWith('/v1/images/'),
  prompt_too_long: (path) => path.startsWith('/v1/images/'),
  size_not_supported: (path) => path.startsWith('/v1/images/'),
  n_not_within_range: (path) => path.startsWith('/v1/images/'),
  // Relayed calls are limited per token and user, and billing endpoints per IP address.
  rate_limit_exceeded: (path) => !isRead(path) || path.includes('/dashboard/'),
  upgrade_required: (_, { isSocket }) => isSocket === true,
  api_not_implemented: (path) => path === realtimePath,
  // A WebSocket session is opened without a body, so it cannot fail with the codes that are marked `hasBody`.
  invalid_json: hasBody,
  request_too_complex: hasBody,
  response_not_found: (path) => /^\/v1\/(?:responses|conversations)/.test(path),
  thread_not_found: (path) => path.startsWith('/v1/messages'),
  request_timeout: hasBody,
  request_too_large: hasBody,
  unsupported_media_type: hasBody,
  feature_not_supported: hasBody,
  // These occur only in the events of a stream, after the status has been sent.
  upstream_stream_error: () => false,
  upstream_stream_incomplete: () => false,
  quota_exhausted_mid_stream: () => false,
  // A response with this code has the upstream's status, which can be any. The document describes it under `default`.
  bad_response_status_code: () => false,
}

/** Every call that accepts a relay token. */
export function relayOperations(writer: SchemaWriter): PathOperation[] {
  const posts = [...relayPaths.map(({ path }) => path), enginePath, ...dialectPaths.map(({ path }) => path)] as const
  return [
    ...posts.map((path) => ({ path, method: 'post' as const, operation: describe(writer, path, relayTag.name) })),
    ...[...relayReads, ...dialectReads].map((path) => ({
      path,
      method: 'get' as const,
      operation: describe(writer, path, modelsTag.name),
    })),
    { path: realtimePath, method: 'get', operation: describeSession(writer) },
    {
      path: responsesSocketPath,
      method: 'get',
      operation: describeSocket(writer, responsesSocketPath, responsesSocket),
    },
    ...storedPaths.map((each) => describeStored(writer, each)),
  ]
}

/** A GET that becomes a WebSocket. */
function describeSocket(
  writer: SchemaWriter,
  path: keyof typeof relayCalls,
  text: RelayCallText = relayCalls[path],
): Operation {
  const { responses, ...operation } = describe(writer, path, relayTag.name, text)
  const { 200: _none, ...failures } = responses
  return {
    ...operation,
    operationId: path === realtimePath ? operation.operationId : `${operation.operationId}Socket`,
    security: ['relayToken', 'relayTokenAsProtocol'].map((name) => ({ [name]: [] })),
    responses: { 101: { description: 'The session is open. WebSocket messages follow.' }, ...failures },
  }
}

/** A call for an object that a provider stores: a response, a conversation, or an item of one. */
function describeStored(writer: SchemaWriter, { method, path }: (typeof storedPaths)[number]): PathOperation {
  const lower = ({ GET: 'get', POST: 'post', DELETE: 'delete' } as const)[method]
  const text = storedCalls[`${method} ${path}` as keyof typeof storedCalls]
  const { responses, ...operation } = describe(writer, path, relayTag.name, text)
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path' as const,
    required: true,
    description: name === 'id' ? 'Id of the response or conversation.' : 'Id of the item.',
    schema: { type: 'string' },
  }))
  return {
    path,
    method: lower,
    operation: {
      ...operation,
      operationId: `${operation.operationId}${lower[0]?.toUpperCase()}${lower.slice(1)}`,
      ...(parameters.length > 0 && { parameters }),
      responses,
    },
  }
}

/** A realtime session, whose model is in the URL. */
function describeSession(writer: SchemaWriter): Operation {
  return {
    ...describeSocket(writer, realtimePath),
    parameters: [
      {
        name: 'model',
        in: 'query',
        required: true,
        description: 'Name of the model, as listed by GET /v1/models.',
        schema: { type: 'string' },
      },
    ],
  }
}

function describe(
  writer: SchemaWriter,
  path: string,
  tag: string,
  text: RelayCallText = relayCalls[path as keyof typeof relayCalls],
): Operation {
  const content = bodyContent(writer, path, text)
  return {
    operationId: nameOf(path),
    tags: [tag],
    summary: text.summary,
    ...(text.description !== undefined && { description: text.description }),
    security: securityOf(path),
    ...(parametersOf(path).length > 0 && { parameters: parametersOf(path) }),
    ...(Object.keys(content).length > 0 && { requestBody: { required: true, content } }),
    responses: {
      200: answered('The answer.', answerContent(writer, text), tag === relayTag.name ? answerHeaders(path) : []),
      ...errorResponses(path, text),
      ...(tag === relayTag.name && {
        default: failed(path, "An error from the upstream, with the upstream's own status."),
      }),
    },
  }
}

/** The ways in which clients of the call's dialect send a token. */
function securityOf(path: string): Operation['security'] {
  const others = path.startsWith('/v1beta/')
    ? ['relayTokenForGemini', 'relayTokenInAddress']
    : path.startsWith('/v1/messages')
      ? ['relayTokenForMessages']
      : []
  return ['relayToken', ...others].map((name) => ({ [name]: [] }))
}

/** The headers of a successful relayed response. */
function answerHeaders(path: string): string[] {
  const dialects = /^\/v1\/(?:chat|responses|messages)|^\/v1beta\/.*generateContent/i.test(path)
  return [
    path.startsWith('/v1/messages') ? 'Request-Id' : 'X-Request-Id',
    ...(dialects ? ['X-Tollgate-Dropped'] : []),
    ...limitHeaderNames,
  ]
}

function parametersOf(path: string): Parameter[] {
  return [
    ...(isRead(path) || path === realtimePath ? [] : callHeaders),
    ...(path.startsWith('/v1/messages') ? anthropicHeaders : []),
    ...(path.includes('{model}') ? [modelParameter] : []),
    ...(path.endsWith(':streamGenerateContent') ? [altParameter] : []),
  ]
}

/** Headers with which any caller can influence how its call is served. */
const callHeaders: Parameter[] = [
  {
    name: 'X-Tollgate-Timeout',
    in: 'header',
    required: false,
    description: 'Maximum number of seconds for the whole call, including retries, such as `20` or `1.5`.',
    schema: { type: 'string', pattern: '^\\d{1,5}(?:\\.\\d{1,3})?$' },
  },
  {
    name: 'X-Session-Id',
    in: 'header',
    required: false,
    description:
      'Id of the session: any text that is the same in all calls of the session. These calls go to the same channel and key, so that the provider can find their prompt in its cache.',
    schema: { type: 'string' },
  },
]

/** Headers of Anthropic's clients. They are sent only to channels whose upstream uses Anthropic's API. */
const anthropicHeaders: Parameter[] = [
  {
    name: 'anthropic-version',
    in: 'header',
    required: false,
    description: 'Version of the API, such as `2023-06-01`. Passed on if the channel is Anthropic.',
    schema: { type: 'string' },
  },
  {
    name: 'anthropic-beta',
    in: 'header',
    required: false,
    description: 'Beta features, separated by commas. Passed on if the channel is Anthropic.',
    schema: { type: 'string' },
  },
]

const altParameter: Parameter = {
  name: 'alt',
  in: 'query',
  required: false,
  description: 'With `sse`, the response is a stream of events; otherwise it is one JSON array.',
  schema: { type: 'string', enum: ['sse', 'json'] },
}

const modelParameter: Parameter = {
  name: 'model',
  in: 'path',
  required: true,
  description: 'Name of the model. It may contain slashes.',
  schema: { type: 'string' },
}

/**
 * The name of a path's operation: `/v1/chat/completions` → `relayChatCompletions`. If an endpoint is served under two
 * prefixes, the name includes the prefix.
 */
function nameOf(path: string): string {
  const words = path.replace(/^\/v1\/(?!dashboard)/, '').match(/\w+/g) ?? []
  return `relay${words.map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`).join('')}`
}

function bodyContent(writer: SchemaWriter, path: string, { body, form }: RelayCallText): Content {
  return {
    ...(body && json(writer.write(body, 'input'), relayExamples[path])),
    ...(form && {
      'multipart/form-data': { schema: writer.write(form, 'input'), example: formExamples[path] ?? {} },
    }),
  }
}

function answerContent(writer: SchemaWriter, { answer, media = {} }: RelayCallText): Content {
  return {
    ...(answer && json(writer.write(answer, 'output'))),
    ...Object.fromEntries(
      Object.entries(media).map(([type, description]) => [type, { schema: { type: 'string', description } }]),
    ),
  }
}

function errorResponses(path: string, text: RelayCallText): Record<string, ResponseObject> {
  const codes = (Object.keys(errorTable) as ErrorCode[]).filter(
    (code) => special[code]?.(path, text) ?? (!isRead(path) || readCodes.includes(code)),
  )
  const byStatus = Map.groupBy(codes, (code) => errorTable[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, same]) => [
      status,
      failed(
        path,
        same.map((code) => `\`${code}\``).join(', '),
        status === 429 ? ['Retry-After', ...limitHeaderNames] : status === 503 ? ['Retry-After'] : [],
        same,
      ),
    ]),
  )
}

function hasBody(path: string, { isSocket }: RelayCallText): boolean {
  return !isRead(path) && !isSocket
}

function isRead(path: string): boolean {
  return ([...relayReads, ...dialectReads] as readonly string[]).includes(path)
}

function failed(
  path: string,
  description: string,
  headers: readonly string[] = [],
  codes: readonly ErrorCode[] = [],
): ResponseObject {
  const schema = { $ref: `#/components/schemas/${errorSchema(path)}` }
  const examples = codes.length > 0 && { examples: examplesOf(path, codes) }
  return answered(
    description,
    { 'application/json': { schema, ...examples } },
    [isRead(path) ? [] : ['X-Should-Retry'], headers].flat(),
  )
}

function answered(description: string, content: Content, headers: readonly string[]): ResponseObject {
  return { description, headers: headersNamed('X-Oneapi-Request-Id', ...headers), content }
}
