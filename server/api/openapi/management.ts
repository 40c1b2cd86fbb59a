import type * as z from 'zod/mini'
import type { Endpoint } from '../../../contract/api/endpoint.ts'
import { api } from '../../../contract/api/index.ts'
import type { Access } from '../../../contract/roles.ts'
import { bodyExamples } from './examples.ts'
import { wordsOfQuery } from './field-words.ts'
import { headersNamed } from './headers.ts'
import type { SchemaWriter } from './json-schema.ts'
import { linksOf } from './links.ts'
import { groupTags } from './tags.ts'
import type { Content, JsonSchema, Method, Operation, Parameter, Reference, ResponseObject } from './types.ts'

/** The fields of a refused call's response, except `message`. */
const refusalFields: Record<string, JsonSchema> = {
  code: {
    type: 'string',
    description:
      'Code of the reason, for programs. The code of a reason never changes. Absent if another service wrote the message.',
  },
  values: {
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'The values that the message contains, by name. Absent if it contains none.',
  },
}

/** An operation and its path in the document. */
export interface PathOperation {
  path: string
  method: Method
  operation: Operation
}

/** Responses that many endpoints of the management API share, by status. */
export const managementResponses: Record<string, ResponseObject> = {
  BadBody: failure('The body cannot be decoded.'),
  NotLoggedIn: failure('The caller is not logged in and sent no access token.'),
  OtherSite: failure(
    'The request was triggered by a page on another site, or a GET that changes something was opened as a page or an image.',
  ),
  BodyTooSlow: failure('The body did not arrive within CallerIdleTimeout.'),
  BodyTooLarge: failure('The body is larger than 1 MiB.'),
  TooManyCalls: {
    ...failure('Too many calls from this address.'),
    headers: headersNamed('Retry-After'),
  },
  Fault: failure('Internal error of the server.'),
  DatabaseAway: failure('The database cannot be reached.'),
}

/** The response envelopes without data. */
export const managementSchemas: Record<string, JsonSchema> = {
  Done: envelope(true, {}, []),
  Failure: envelope(false, {}, []),
}

/** Every endpoint of the management API. */
export function managementOperations(writer: SchemaWriter): PathOperation[] {
  return Object.entries(api).flatMap(([group, endpoints]) =>
    Object.entries<Endpoint>(endpoints).map(([name, endpoint]) => ({
      path: endpoint.path,
      method: endpoint.method.toLowerCase() as Method,
      operation: describe(writer, group as keyof typeof api, name, endpoint),
    })),
  )
}

function describe(writer: SchemaWriter, group: keyof typeof api, name: string, endpoint: Endpoint): Operation {
  const operationId = `${group}${name[0]?.toUpperCase()}${name.slice(1)}`
  const parameters = [
    ...parametersOf(writer, endpoint.params, 'path'),
    ...parametersOf(writer, endpoint.query, 'query'),
  ]
  const body = closed(writer.write(endpoint.body, 'input'), endpoint.ignores)
  const content = json(body, bodyExamples[operationId])
  return {
    operationId,
    tags: [groupTags[group].name],
    summary: endpoint.summary,
    ...(endpoint.description !== undefined && { description: endpoint.description }),
    security: securityOf(endpoint.access),
    ...(parameters.length > 0 && { parameters }),
    // A call whose fields are all optional may be sent without a body.
    ...(endpoint.textBody && {
      requestBody: { required: true, content: texts(endpoint.textBody, bodyExamples[operationId]) },
    }),
    ...(endpoint.fileBody && {
      requestBody: {
        required: true,
        content: {
          'application/octet-stream': {
            schema: { type: 'string', format: 'binary' },
            example: bodyExamples[operationId],
          },
        },
      },
    }),
    ...(hasFields(body) &&
      !endpoint.textBody && { requestBody: { required: (body.required ?? []).length > 0, content } }),
    responses: responsesOf(writer, operationId, endpoint, parameters),
  }
}

/** The schema of a body that refuses unknown fields; ignored fields may have any value. */
function closed(body: JsonSchema, ignores: readonly string[] = []): JsonSchema {
  const ignored = ignores.filter((name) => body.properties?.[name] === undefined)
  return {
    ...body,
    ...(ignored.length > 0 && { patternProperties: { [`^(?:${ignored.join('|')})$`]: { description: 'Ignored.' } } }),
    additionalProperties: false,
  }
}

function hasFields({ properties = {} }: JsonSchema): boolean {
  return Object.keys(properties).length > 0
}

/** Roles are listed as scopes, which OpenAPI allows for schemes other than OAuth. */
function securityOf(access: Access): Operation['security'] {
  return access === 'public' ? [] : [{ session: [access] }, { accessToken: [access] }, { bareAccessToken: [access] }]
}

function parametersOf(writer: SchemaWriter, schema: z.ZodMiniType, location: Parameter['in']): Parameter[] {
  const { properties = {}, required = [] } = writer.write(schema, 'input')
  return Object.entries(properties).map(([name, { description = wordsOfQuery(name), ...rest }]) => ({
    name,
    in: location,
    // A field with a default is not required, because the default replaces it if it is omitted.
    required: location === 'path' || (required.includes(name) && rest.default === undefined),
    ...(description !== undefined && { description }),
    schema: rest,
  }))
}

function responsesOf(
  writer: SchemaWriter,
  operationId: string,
  endpoint: Endpoint,
  parameters: Parameter[],
): Operation['responses'] {
  const links = linksOf(operationId)
  const changes = endpoint.method !== 'GET' || endpoint.changesState
  const isPaged = parameters.some(({ name }) => name === 'size')
  const counts = endpoint.cutWhenSorted ? ['X-Total-Count', 'X-Matching-Count', 'X-Searched-Count'] : ['X-Total-Count']
  return {
    200: {
      description: 'The call succeeded or was refused; see `success`.',
      ...(isPaged && { headers: headersNamed(...counts) }),
      content: answerContent(writer, endpoint),
      ...(Object.keys(links).length > 0 && { links }),
    },
    ...(endpoint.badBodyStatus && { [endpoint.badBodyStatus]: shared('BadBody') }),
    ...(endpoint.access !== 'public' && { 401: shared('NotLoggedIn') }),
    ...(changes && { 403: shared('OtherSite') }),
    ...((endpoint.method === 'POST' || endpoint.method === 'PUT') && {
      408: shared('BodyTooSlow'),
      413: shared('BodyTooLarge'),
    }),
    429: shared('TooManyCalls'),
    500: shared('Fault'),
    503: shared('DatabaseAway'),
  }
}

function answerContent(writer: SchemaWriter, { media, data, envelope: form }: Endpoint): Content {
  const refused = { $ref: '#/components/schemas/Failure' }
  if (media !== undefined) {
    return { ...json(refused), [media]: { schema: { type: media === 'application/json' ? 'object' : 'string' } } }
  }
  const type = data._zod.def.type
  if (type === 'undefined') return json({ oneOf: [{ $ref: '#/components/schemas/Done' }, refused] })
  const schema = writer.write(data, 'output')
  if (form === 'bare') return json({ oneOf: [schema, refused] })
  if (form === 'flat') {
    const { properties = {}, required = [] } = schema
    // A call with a flat envelope can return some of its fields even when it fails, so none of them is required.
    return json({ oneOf: [envelope(true, properties, required), envelope(false, properties, [])] })
  }
  return json({ oneOf: [envelope(true, { data: schema }, type === 'optional' ? [] : ['data']), refused] })
}

/** The schema of the envelope with additional fields. No other fields are ever sent. */
function envelope(success: boolean, fields: Record<string, JsonSchema>, required: readonly string[]): JsonSchema {
  return {
    type: 'object',
    properties: {
      success: { type: 'boolean', const: success },
      message: { type: 'string', ...(!success && { description: 'The reason, for people to read.' }) },
      ...(!success && refusalFields),
      ...fields,
    },
    required: ['success', 'message', ...required],
    additionalProperties: false,
  }
}

function failure(description: string): ResponseObject {
  return { description, content: json({ $ref: '#/components/schemas/Failure' }) }
}

function shared(name: keyof typeof managementResponses): Reference {
  return { $ref: `#/components/responses/${name}` }
}

/** A body that is a text of one of several types. */
function texts(types: readonly string[], example: unknown): Content {
  return Object.fromEntries(
    types.map((type) => [
      type,
      /json/.test(type)
        ? { schema: { type: 'object' }, example }
        : { schema: { type: 'string' }, example: JSON.stringify(example) },
    ]),
  )
}

export function json(schema: JsonSchema, example?: unknown): Content {
  return { 'application/json': { schema, ...(example !== undefined && { example }) } }
}
