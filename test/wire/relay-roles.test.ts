// Which callers may call the relay, and which may call the routes outside the relay and the management API. Every row
// of the tables is tested against a complete gateway.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { notServedPaths } from '../../contract/relay-paths.ts'
import { openApiDocument } from '../../server/api/openapi/document.ts'
import { startTestGateway } from '../helpers/test-gateway.ts'
import { operationsOf } from './document.ts'
import { type Credentials, startWireGate, type Who, type WireGate, whoNames } from './gate.ts'
import { addressOf, bodyOf } from './relay-bodies.ts'
import { tables } from './role-tables.ts'

// Complete gateways and real password hashes are slow on a busy machine.
setDefaultTimeout(120_000)

const operations = new Map(
  operationsOf(openApiDocument('0')).map(({ method, path, operation }) => [
    `${method.toUpperCase()} ${path}`,
    operation,
  ]),
)

let gate: WireGate
const callers: Record<string, Credentials> = {}

beforeAll(async () => {
  gate = await startWireGate()
  const { store } = gate.gateway.context
  for (const who of whoNames) callers[who] = who === 'none' ? {} : { relayToken: (await gate.person(who)).relayToken }
  for (const [name, fields] of Object.entries({
    disabled: { status: 2 },
    expired: { expired_time: 1 },
    'used-up': { status: 4 },
  })) {
    const { tokenId, relayToken } = await gate.person('user')
    await store.write((trx) => trx.updateTable('tokens').set(fields).where('id', '=', tokenId).execute())
    callers[name] = { relayToken }
  }
  const { cookie, accessToken } = await gate.person('root')
  Object.assign(callers, { cookie: { cookie }, access: { accessToken } })
})
afterAll(() => gate[Symbol.asyncDispose]())

test('relay calls have the status in the table', async () => {
  for (const { route, cells } of tables.relay) {
    const [method = '', path = ''] = route.split(' ')
    const operation = operations.get(route)
    if (!operation) throw new Error(`${route} is not in the document`)
    for (const [column, word] of Object.entries(cells)) {
      const body = operation.requestBody && bodyOf(path, operation)
      const options = { as: callers[column] ?? {}, ...(body !== undefined && { body }) }
      const response = await gate.call(method, addressOf(path), options)
      await response.body?.cancel()
      expect([route, column, String(response.status)]).toEqual([route, column, word])
    }
  }
})

test('only admins can choose a channel in the token', async () => {
  for (const [who, status] of [
    ['user', 403],
    ['admin', 200],
    ['root', 200],
  ] as const) {
    const relayToken = `${callers[who]?.relayToken}-${gate.channelId}`
    const body = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] }
    const response = await gate.call('POST', '/v1/chat/completions', { as: { relayToken }, body })
    await response.body?.cancel()
    expect([who, response.status]).toEqual([who, status])
  }
})

test('only callers with a usable token get a 501 for the parts of OpenAI’s API that this gateway does not have', async () => {
  for (const path of notServedPaths) {
    for (const each of [path, `${path}/thing`]) {
      for (const [who, status] of [
        ['none', 401],
        ['banned', 403],
        ['user', 501],
      ] as const) {
        const response = await gate.call('PUT', each, { as: callers[who] ?? {} })
        expect([each, who, response.status]).toEqual([each, who, status])
      }
    }
  }
})

test('routes outside the relay and the management API have the status in the table', async () => {
  for (const { route, cells } of tables.other) {
    const [method = '', path = ''] = route.split(' ')
    for (const [column, word] of Object.entries(cells)) {
      for (const each of method === 'ALL' ? ['GET', 'POST', 'DELETE'] : [method]) {
        const address = path.replace('*', 'no/such/path')
        for (const as of await ways(column as Who)) {
          const response = await gate.call(each, address, { as })
          await response.body?.cancel()
          expect([route, each, column, String(response.status)]).toEqual([route, each, column, word])
        }
      }
    }
  }
})

/** All forms of credentials that a caller may have. */
async function ways(who: Who): Promise<Credentials[]> {
  if (who === 'none') return [{}]
  const { cookie, accessToken, relayToken } = await gate.person(who)
  return [{ cookie }, { accessToken }, { relayToken }]
}

test('the metrics can be read only from localhost or, if METRICS_TOKEN is set, with that token, whatever the caller’s role', async () => {
  const away = await gate.gateway.app.fetch(new Request('http://gate/metrics'), { socketAddress: '203.0.113.9' })
  expect(away.status).toBe(403)
  await using guarded = await startTestGateway({ env: { METRICS_TOKEN: 'the metrics token' } })
  for (const [token, status] of [
    ['', 403],
    ['testgatewayaccesstoken', 403],
    ['the metrics token', 200],
  ] as const) {
    const response = await fetch(`${guarded.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
    await response.body?.cancel()
    expect([token, response.status]).toEqual([token, status])
  }
})
