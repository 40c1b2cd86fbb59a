// Each error status that the OpenAPI document promises for an endpoint of the management API occurs in the right
// situation and in the promised format.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Endpoint } from '../../contract/api/endpoint.ts'
import { openApiDocument } from '../../server/api/openapi/document.ts'
import { openStore } from '../../server/store/connection/open.ts'
import { migrate } from '../../server/store/migrations/migrate.ts'
import { createTestApi } from '../helpers/api-app.ts'
import { openPublicPages } from '../helpers/mail-server.ts'
import { operationsOf, promisedBy } from './document.ts'
import { endpoints, startWireGate, type WireGate } from './gate.ts'

// Complete gateways and real password hashes are slow on a busy machine.
setDefaultTimeout(120_000)

const document = openApiDocument('0')
const promised = promisedBy(document)
const statusesOf = new Map(
  operationsOf(document).map(({ operation }) => [operation.operationId, Object.keys(operation.responses).map(Number)]),
)

/** The endpoints for which the document promises the given status. */
const having = (status: number) => endpoints.filter(({ name }) => statusesOf.get(name)?.includes(status))
/** The operation with this name in the document. */
const operationOf = (name: string) =>
  operationsOf(document).find(({ operation }) => operation.operationId === name)?.operation

/** The path of an endpoint, with a value for every required parameter. */
function address(name: string, { path }: Endpoint): string {
  const query = (operationOf(name)?.parameters ?? []).filter((each) => each.in === 'query' && each.required)
  const values = query.map((each): [string, string] => [each.name, each.name === 'email' ? 'a@example.com' : '1'])
  return `${path.replaceAll(/\{\w+\}/g, '1')}?${new URLSearchParams(values)}`
}

async function expectStatus(name: string, response: Response, status: number): Promise<void> {
  expect([name, response.status]).toEqual([name, status])
  expect(await promised.check(name, response)).toMatchObject({ success: false, message: expect.stringMatching(/\w/) })
}

let gate: WireGate
let root: Awaited<ReturnType<WireGate['person']>>
beforeAll(async () => {
  gate = await startWireGate()
  root = await gate.person('root')
})
afterAll(() => gate[Symbol.asyncDispose]())

test('every promised status is tested here', () => {
  const tested = new Set([200, 400, 401, 403, 408, 413, 429, 500, 503])
  expect(
    [...statusesOf]
      .filter(([name]) => endpoints.some((each) => each.name === name))
      .flatMap(([, all]) => all.filter((status) => !tested.has(status))),
  ).toEqual([])
})

test('401: nobody is logged in', async () => {
  expect(having(401).length).toBeGreaterThan(50)
  for (const { name, endpoint } of having(401)) {
    await expectStatus(name, await gate.call(endpoint.method, address(name, endpoint)), 401)
  }
})

test('403: a request triggered by another site’s page', async () => {
  expect(having(403).length).toBeGreaterThan(30)
  const headers = { 'sec-fetch-site': 'cross-site' }
  for (const { name, endpoint } of having(403)) {
    const answer = await gate.call(endpoint.method, address(name, endpoint), { as: { cookie: root.cookie }, headers })
    await expectStatus(name, answer, 403)
  }
})

test('a call without a documented 403 can be triggered by another site’s page, so it must not change anything', async () => {
  await using it = await failingApi()
  const watcher = new Database(it.file, { readonly: true })
  // SQLite changes this value when another connection writes to the database.
  const version = () => JSON.stringify(watcher.query('PRAGMA data_version').get())
  for (const { name, endpoint } of endpoints.filter((each) => !statusesOf.get(each.name)?.includes(403))) {
    const before = version()
    const headers = { authorization: `Bearer ${it.root.token}` }
    const env = { socketAddress: '203.0.113.9' }
    const response = await it.api.app.request(address(name, endpoint), { method: endpoint.method, headers }, env)
    expect([name, response.status, version()]).toEqual([name, 200, before])
  }
  watcher.close()
})

test('400 and 413: a body that cannot be decoded, and a body that is too large', async () => {
  expect(having(400).map(({ name }) => name)).toEqual(['optionUpdate'])
  for (const { name, endpoint } of having(400)) {
    await expectStatus(name, await gate.call(endpoint.method, address(name, endpoint), { as: root, body: '{' }), 400)
  }
  const body = `{"a": "${'a'.repeat(1024 * 1024)}"}`
  expect(having(413).map(({ name }) => name)).toEqual(
    endpoints.filter(({ endpoint }) => /^(POST|PUT)$/.test(endpoint.method)).map(({ name }) => name),
  )
  for (const { name, endpoint } of having(413)) {
    // An uploaded file may be larger than this body. Its limit is tested in test/attacks/imports.
    if (name === 'importUpload') continue
    await expectStatus(name, await gate.call(endpoint.method, address(name, endpoint), { as: root, body }), 413)
  }
})

test('408: a body that never ends', async () => {
  await gate.gateway.setOption('CallerIdleTimeout', '0.5')
  expect(having(408)).toEqual(having(413))
  await Promise.all(
    having(408).map(async ({ name, endpoint }) => {
      const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{"')) })
      await expectStatus(name, await gate.call(endpoint.method, address(name, endpoint), { as: root, body }), 408)
    }),
  )
  await gate.gateway.setOption('CallerIdleTimeout', '120')
})

/** An API whose store and settings can be made to fail. */
async function failingApi() {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-'))
  const file = join(folder, 'test.db')
  const store = openStore({ url: file })
  await migrate(store)
  let fault: Error | undefined
  const fail = () => {
    if (fault) throw fault
  }
  const failing = new Proxy(store, {
    get(target, key: keyof typeof store) {
      if (key === 'read' || key === 'write') fail()
      return target[key]
    },
  })
  const sound = await createTestApi(store)
  await openPublicPages(sound)
  const settings = {
    ...sound.settings,
    current() {
      fail()
      return sound.settings.current()
    },
  }
  const api = await createTestApi(failing, { settings })
  return {
    api,
    file,
    root: await sound.addPerson({ role: 100 }),
    failWith: (error: Error) => {
      fault = error
    },
    async [Symbol.asyncDispose]() {
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Calls that cannot fail with an internal error: their responses are built in memory, without the database. */
const infallible = ['configSchema', 'docsDocument', 'docsPage']

for (const [status, error] of [
  [500, new Error('a fault of ours')],
  [503, Object.assign(new Error('disk I/O error'), { name: 'SQLiteError' })],
] as const) {
  test(`${status}: ${error.message}`, async () => {
    await using it = await failingApi()
    it.failWith(error)
    for (const { name, endpoint } of having(status).filter((each) => !infallible.includes(each.name))) {
      const response = await it.api.app.request(
        address(name, endpoint),
        {
          method: endpoint.method,
          headers: { authorization: `Bearer ${it.root.token}`, cookie: 'session=x' },
          ...(statusesOf.get(name)?.includes(413) && { body: JSON.stringify(bodyOf(name)) }),
        },
        { socketAddress: '203.0.113.9' },
      )
      await expectStatus(name, response, status)
    }
    expect(it.api.warnings.length).toBeGreaterThan(50)
  })
}

/** A body that matches the schema, so that the call fails only after validation. */
function bodyOf(name: string): unknown {
  return operationOf(name)?.requestBody?.content['application/json']?.example ?? {}
}

test('429: more calls than allowed, under the general limit and under the strict limit', async () => {
  await using it = await failingApi()
  const off = { limit: 0, windowMs: 1000 }
  const once = { limit: 1, windowMs: 60_000 }
  const any = await createTestApi(it.api.store, { rateRules: { api: once, critical: off, loginFailures: off } })
  const strict = await createTestApi(it.api.store, { rateRules: { api: off, critical: once, loginFailures: off } })
  expect(having(429).length).toBe(endpoints.length)
  for (const [index, { name, endpoint }] of having(429).entries()) {
    const env = { socketAddress: `203.0.113.${index}` }
    const init = { method: endpoint.method }
    await any.app.request('/api/status', {}, env)
    await expectStatus(name, await any.app.request(address(name, endpoint), init, env), 429)
    if (!endpoint.critical) continue
    await strict.app.request('/api/user/login', { method: 'POST' }, env)
    await expectStatus(name, await strict.app.request(address(name, endpoint), init, env), 429)
  }
})
