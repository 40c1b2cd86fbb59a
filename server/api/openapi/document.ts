import { withWords } from './field-words.ts'
import { sharedHeaders } from './headers.ts'
import { healthOperations } from './health.ts'
import { createSchemaWriter } from './json-schema.ts'
import { managementOperations, managementResponses, managementSchemas } from './management.ts'
import { relayOperations } from './relay.ts'
import { errorExamples, relaySchemas } from './relay-errors.ts'
import { groupTags, healthTag, introduction, modelsTag, relayTag } from './tags.ts'
import type { OpenApi, PathItem } from './types.ts'

const securitySchemes = {
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'session',
    description: 'The cookie that a login sets. Pages on other sites cannot make changes with it.',
  },
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    description: "An account's access token, created by GET /api/user/token. It has all the rights of the account.",
  },
  bareAccessToken: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'The access token alone, without `Bearer`, as clients of one-api send it.',
  },
  relayToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'sk-…',
    description: 'A relay token (`sk-…`), which users create on the token page of the console.',
  },
  relayTokenForMessages: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: "The relay token, as Anthropic's clients send it.",
  },
  relayTokenForGemini: {
    type: 'apiKey',
    in: 'header',
    name: 'x-goog-api-key',
    description: "The relay token, as Google's clients send it.",
  },
  relayTokenInAddress: {
    type: 'apiKey',
    in: 'query',
    name: 'key',
    description: "The relay token in the URL, as some of Google's clients send it. Proxies write URLs to their logs.",
  },
  relayTokenAsProtocol: {
    type: 'apiKey',
    in: 'header',
    name: 'Sec-WebSocket-Protocol',
    description:
      'For WebSockets in browsers, which cannot set other headers: `realtime, openai-insecure-api-key.` followed by the token.',
  },
  metricsToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'The token in the environment variable METRICS_TOKEN of the server.',
  },
}

/**
 * Creates the OpenAPI document of the contract. The document depends only on the contract, the version and the base
 * path. `basePath` is the public prefix of every path, such as '' or '/gateway'.
 */
export function openApiDocument(version: string, basePath = ''): OpenApi {
  const writer = createSchemaWriter()
  const paths: Record<string, PathItem> = {}
  for (const { path, method, operation } of [
    ...relayOperations(writer),
    ...managementOperations(writer),
    ...healthOperations(),
  ]) {
    paths[path] = { ...paths[path], [method]: operation }
  }
  const components = Object.fromEntries(Object.entries(writer.components).sort(([a], [b]) => (a < b ? -1 : 1)))
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tollgate',
      version,
      summary: 'LLM API gateway with key management.',
      description: introduction,
      license: { name: 'MIT' },
    },
    servers: [{ url: basePath === '' ? '/' : basePath, description: 'This server.' }],
    tags: [relayTag, modelsTag, ...Object.values(groupTags), healthTag],
    paths: withWords(paths),
    components: withWords({
      securitySchemes,
      schemas: { ...managementSchemas, ...relaySchemas, ...components },
      headers: sharedHeaders,
      responses: managementResponses,
      examples: errorExamples,
    }),
  }
}
