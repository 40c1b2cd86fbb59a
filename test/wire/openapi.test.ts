import { expect, setDefaultTimeout, test } from 'bun:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import {
  dialectPaths,
  dialectReads,
  enginePath,
  realtimePath,
  relayPaths,
  relayReads,
  responsesSocketPath,
  storedPaths,
} from '../../contract/relay-paths.ts'
import { openApiDocument } from '../../server/api/openapi/document.ts'
import type { JsonSchema } from '../../server/api/openapi/types.ts'
import { type ErrorCode, errorTable, GatewayError } from '../../server/errors.ts'
import { errorResponse } from '../../server/relay/failures/error-response.ts'
import { differences, repeated } from '../../tools/repo-rules.ts'
import { startTestGateway } from '../helpers/test-gateway.ts'
import { operationsOf, promisedBy } from './document.ts'
import { endpoints } from './gate.ts'

// Complete gateways and real password hashes are slow on a busy machine.
setDefaultTimeout(120_000)

const document = openApiDocument('1.2.3')
const operations = operationsOf(document)

/** All schemas inside a value, including the value itself. */
function schemasIn(value: unknown): JsonSchema[] {
  if (typeof value !== 'object' || value === null) return []
  return [value as JsonSchema, ...Object.values(value).flatMap(schemasIn)]
}

test('every field has a description, and every body has an example', () => {
  const fields = schemasIn({ paths: document.paths, schemas: document.components.schemas }).flatMap(
    ({ properties = {} }) => Object.entries(properties),
  )
  expect(fields.length).toBeGreaterThan(500)
  const silent = fields.filter(([, { description, $ref, const: only }]) => !description && !$ref && only === undefined)
  expect([...new Set(silent.map(([name]) => name))]).toEqual([])
  for (const { operation } of operations) {
    for (const parameter of (operation.parameters ?? []) as { name?: string; description?: string }[])
      if (parameter.name)
        expect([operation.operationId, parameter]).toEqual([
          operation.operationId,
          expect.objectContaining({ description: expect.any(String) }),
        ])
    const body = operation.requestBody as
      | { content: Record<string, { example?: unknown; examples?: unknown }> }
      | undefined
    for (const [type, { example, examples }] of Object.entries(body?.content ?? {}))
      expect([operation.operationId, type, example !== undefined || examples !== undefined]).toEqual([
        operation.operationId,
        type,
        true,
      ])
  }
})

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator()
  const { valid, errors } = await validator.validate(structuredClone(document) as never)
  expect([valid, errors, validator.version]).toEqual([true, undefined, '3.1'])
  expect(document.openapi).toMatch(/^3\.1\.\d+$/)
})

test('the document contains every endpoint of the contract and every call of the relay, and nothing else', () => {
  const relay = [
    ...[...relayPaths, ...dialectPaths].map(({ path }) => `post ${path}`),
    `post ${enginePath}`,
    ...[...relayReads, ...dialectReads, realtimePath, responsesSocketPath].map((path) => `get ${path}`),
    ...storedPaths.map(({ method, path }) => `${method.toLowerCase()} ${path}`),
  ]
  const management = endpoints.map(({ endpoint }) => `${endpoint.method.toLowerCase()} ${endpoint.path}`)
  expect(
    differences(
      [...relay, ...management, 'get /healthz', 'get /readyz', 'get /metrics'],
      operations.map(({ method, path }) => `${method} ${path}`),
    ),
  ).toEqual([])
  expect(repeated(operations.map(({ operation }) => operation.operationId))).toEqual([])
})

test('every operation states what it does, who may call it and what it requires', () => {
  const tags = new Set(document.tags.map(({ name }) => name))
  for (const { path, operation } of operations) {
    expect([path, operation.summary.length > 3]).toEqual([path, true])
    expect([path, operation.tags.length === 1 && tags.has(operation.tags[0] ?? '')]).toEqual([path, true])
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
    const named = (operation.parameters ?? []).filter((each) => each.in === 'path').map(({ name }) => name)
    expect([path, named]).toEqual([path, inPath])
  }
  for (const { name, endpoint } of endpoints) {
    const security = operations.find(({ operation }) => operation.operationId === name)?.operation.security
    const open = ['session', 'accessToken', 'bareAccessToken'].map((scheme) => ({ [scheme]: [endpoint.access] }))
    expect([name, JSON.stringify(security)]).toEqual([name, JSON.stringify(endpoint.access === 'public' ? [] : open)])
  }
})

test('the schemas of management responses declare all fields and allow no others', () => {
  for (const { name } of endpoints) {
    const found = operations.find(({ operation }) => operation.operationId === name)?.operation
    const content = found?.responses['200'] && 'content' in found.responses['200'] ? found.responses['200'].content : {}
    const loose = schemasIn(content?.['application/json']?.schema).filter(
      ({ type, properties, additionalProperties }) =>
        type === 'object' && properties !== undefined && additionalProperties !== false,
    )
    expect([name, loose]).toEqual([name, []])
  }
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    if (name !== 'RelayError') expect([name, schema.additionalProperties]).toEqual([name, false])
  }
})

test('every JSON body has an example that matches its schema', () => {
  const { errorsOf } = promisedBy(document)
  for (const { operation } of operations) {
    const json = operation.requestBody?.content['application/json']
    if (!json) continue
    const faults = json.example === undefined ? ['no example'] : errorsOf(json.schema, json.example)
    expect([operation.operationId, faults]).toEqual([operation.operationId, []])
  }
})

test('every form has an example with the fields of its schema', () => {
  const forms = operations.flatMap(({ operation }) => {
    const form = operation.requestBody?.content['multipart/form-data']
    return form ? [{ name: operation.operationId, form }] : []
  })
  expect(forms.length).toBeGreaterThan(3)
  const { errorsOf } = promisedBy(document)
  for (const { name, form } of forms) {
    expect([name, Object.keys((form.example ?? {}) as object).length > 0]).toEqual([name, true])
    expect([name, errorsOf(form.schema, form.example)]).toEqual([name, []])
  }
})

test('the example of every error is what the gateway sends in that dialect', async () => {
  const dialects = { RelayError: 'openai-chat', MessagesError: 'anthropic-messages', GeminiError: 'gemini' } as const
  const { errorsOf } = promisedBy(document)
  const id = '20260728120000123456789abcdefghi'
  for (const [name, example] of Object.entries(document.components.examples)) {
    const [schema, code] = name.split('.') as [keyof typeof dialects, ErrorCode]
    expect([name, errorsOf({ $ref: `#/components/schemas/${schema}` }, example.value)]).toEqual([name, []])
    const response = errorResponse(new GatewayError(code, example.summary), id, dialects[schema])
    expect([name, response.status]).toEqual([name, errorTable[code].status])
    expect([name, await response.json()]).toEqual([name, example.value])
  }
})

test('links refer to existing operations and fill in their parameters', () => {
  const byId = new Map(operations.map(({ operation }) => [operation.operationId, operation]))
  const links = operations.flatMap(({ operation }) => {
    const done = operation.responses['200']
    return done && 'links' in done ? Object.values(done.links ?? {}).map((link) => ({ operation, link })) : []
  })
  expect(links.length).toBeGreaterThan(15)
  for (const { operation, link } of links) {
    const to = byId.get(link.operationId)
    const names = (to?.parameters ?? []).map(({ name }) => name)
    const unknown = Object.keys(link.parameters ?? {}).filter((name) => !names.includes(name))
    expect([operation.operationId, link.operationId, to !== undefined, unknown]).toEqual([
      operation.operationId,
      link.operationId,
      true,
      [],
    ])
    if (link.requestBody !== undefined) expect(to?.requestBody).toBeDefined()
  }
})

test('patterns are also valid regular expressions in other programming languages, and quota, limits and budgets have a maximum', () => {
  for (const schema of schemasIn(document)) {
    if (typeof schema['pattern'] === 'string') expect(schema['pattern']).not.toMatch(/\\p\{|\(\?[<!=]/)
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      if (!/_limit$|_budget$/.test(name) || 'const' in field) continue
      if (schema.additionalProperties === false) continue
      expect([name, typeof field['maximum'], field['minimum']]).toEqual([name, 'number', 0])
    }
  }
})

test('counts and ids are whole numbers', () => {
  const fractional = ['balance', 'time', 'quota_per_unit', 'duration', 'first_byte', 'min', 'max']
  const loose = new Set<string>()
  for (const schema of schemasIn(document)) {
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      const isNumber = field.type === 'number' && !('const' in field)
      if (isNumber && !fractional.includes(name) && /(^|_)(id|quota|tokens|time|count|type|status|role)$/.test(name))
        loose.add(name)
    }
  }
  expect([...loose]).toEqual([])
})

test('a gateway serves the document to everybody, and sends it again only if it has changed', async () => {
  await using gateway = await startTestGateway()
  for (const path of ['/api/openapi.json', '/api/docs']) {
    const first = await fetch(gateway.url + path)
    const tag = first.headers.get('etag') ?? ''
    expect([path, first.status, tag.length > 20]).toEqual([path, 200, true])
    expect(first.headers.get('cache-control')).toBe('public, max-age=300')
    for (const known of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
      const again = await fetch(gateway.url + path, { headers: { 'if-none-match': known } })
      expect([known, again.status, await again.text(), again.headers.get('etag')]).toEqual([known, 304, '', tag])
    }
    expect((await fetch(gateway.url + path, { headers: { 'if-none-match': '"old"' } })).status).toBe(200)
    // The document is large, so it is sent compressed to clients that accept compression.
    for (const [accepted, coding] of [
      ['gzip, br', 'gzip'],
      ['br', null],
      ['gzip;q=0', null],
    ] as const) {
      const headers = { 'accept-encoding': accepted }
      const response = await fetch(gateway.url + path, { headers, decompress: false } as RequestInit)
      expect([accepted, response.headers.get('content-encoding')]).toEqual([accepted, coding])
      expect(response.headers.get('vary')?.toLowerCase()).toContain('accept-encoding')
    }
  }
  const served = await (await fetch(`${gateway.url}/api/openapi.json`)).json()
  const { version } = gateway.context.api
  expect(served).toEqual(JSON.parse(JSON.stringify(openApiDocument(version))))
})

test('under a base path, the document and the page contain the base path', async () => {
  await using gateway = await startTestGateway({ env: { BASE_PATH: '/gate' } })
  const { servers } = (await (await fetch(`${gateway.url}/api/openapi.json`)).json()) as typeof document
  expect(servers[0]?.url).toBe('/gate')
  expect(await (await fetch(`${gateway.url}/api/docs`)).text()).toContain('href="/gate/api/openapi.json"')
})

test('the page shows every operation and loads no script, no image and no other resource', async () => {
  await using gateway = await startTestGateway()
  const response = await fetch(`${gateway.url}/api/docs`)
  const html = await response.text()
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  const policy = response.headers.get('content-security-policy') ?? ''
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; /)
  expect(policy).not.toContain('unsafe')
  const style = /<style>(.*?)<\/style>/s.exec(html)?.[1] ?? ''
  const hash = new Bun.CryptoHasher('sha256').update(style).digest('base64')
  expect(policy).toContain(`'sha256-${hash}'`)
  expect(
    html.match(/<script|<link|<img|<iframe|<[^>]+ (?:style|on\w+|src)=|url\(|@import|href="(?!#|\/api\/)/g),
  ).toBeNull()
  for (const { path, method, operation } of operations) {
    const at = html.indexOf(`<details id="${operation.operationId}">`)
    const end = html.indexOf('</details>', at)
    expect([path, at > 0, html.slice(at, end).includes(`<code>${path}</code>`)]).toEqual([path, true, true])
    expect(html.slice(at, end)).toContain(method.toUpperCase())
  }
  const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id ?? '')
  expect(repeated(ids)).toEqual([])
  const targets = [...html.matchAll(/href="#([^"]+)"/g)].map(([, target]) => target ?? '')
  expect([...new Set(targets)].filter((target) => !ids.includes(target))).toEqual([])
})
