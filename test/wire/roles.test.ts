// Who may do what: every row of the tables is tested against a complete gateway. If a route has no row, or a row has no
// route, the test fails.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import * as z from 'zod/mini'
import {
  dialectPaths,
  dialectReads,
  enginePath,
  notServedPaths,
  realtimePath,
  relayPaths,
  relayReads,
  responsesSocketPath,
  storedPaths,
} from '../../contract/relay-paths.ts'
import { differences, repeated } from '../../tools/repo-rules.ts'
import { type Credentials, endpoints, type Person, startWireGate, type Who, type WireGate, whoNames } from './gate.ts'
import { middleware, outcomes, type Row, tables } from './role-tables.ts'
import { type Me, sessionOf, successes } from './successes.ts'

// Complete gateways and real password hashes are slow on a busy machine.
setDefaultTimeout(120_000)

const routesOf = (rows: readonly Row[]) => rows.map(({ route }) => route)
const nameOf = new Map(endpoints.map(({ name, endpoint }) => [`${endpoint.method} ${endpoint.path}`, name]))

let gate: WireGate
beforeAll(async () => {
  gate = await startWireGate()
})
afterAll(() => gate[Symbol.asyncDispose]())

/** The ways to authenticate to the management API, each tested separately. */
const ways = {
  cookie: ({ cookie }: Person): Credentials => ({ cookie }),
  token: ({ accessToken }: Person): Credentials => ({ accessToken }),
}

function meOf(person: Person, as: Credentials): Me {
  return { id: person.id, username: person.username, tokenId: person.tokenId, as }
}

/**
 * The expected outcome for a way to authenticate, if the cell has the form `a|b`; otherwise the only outcome in the
 * cell.
 */
function wordOf(cell: string, way: keyof typeof ways): string {
  const [byCookie = '', byToken = byCookie] = cell.split('|')
  return way === 'cookie' ? byCookie : byToken
}

async function expectOutcome(what: unknown[], word: string, response: Response): Promise<void> {
  const wanted = outcomes[word]
  if (!wanted) throw new Error(`no such outcome: ${word}`)
  const text = await response.text()
  expect([...what, response.status, text]).toEqual([...what, wanted.status, text])
  const isJson = (response.headers.get('content-type') ?? '').startsWith('application/json')
  const { success = true, message = '' } = isJson ? JSON.parse(text) : {}
  expect([...what, success, message]).toEqual([
    ...what,
    word === 'ok',
    wanted.message ? expect.stringMatching(wanted.message) : message,
  ])
}

test('the tables have a row for every route, and no row without a route', () => {
  expect(differences([...nameOf.keys()], routesOf(tables.management))).toEqual([])
  const relay = [...[...relayPaths, ...dialectPaths].map(({ path }) => path), enginePath].map((path) => `POST ${path}`)
  expect(
    differences(
      [
        ...relay,
        ...[...relayReads, ...dialectReads, realtimePath, responsesSocketPath].map((path) => `GET ${path}`),
        ...storedPaths.map(({ method, path }) => `${method} ${path}`),
      ],
      routesOf(tables.relay),
    ),
  ).toEqual([])
  for (const rows of Object.values(tables)) expect(repeated(routesOf(rows))).toEqual([])
})

test('no registered route is missing from the tables', async () => {
  const known = new Set([
    ...[...routesOf(tables.management), ...routesOf(tables.relay)].flatMap((route) => [
      route.replace(/\/$/, ''),
      `${route.replace(/\/$/, '')}/`,
    ]),
    ...routesOf(tables.other),
    ...notServedPaths.flatMap((path) => [`ALL ${path}`, `ALL ${path}/*`]),
    ...middleware,
  ])
  const registered = (await gate.gateway.app.routes()).map(
    ({ method, path }) => `${method} ${path.replaceAll(/\/:(\w+)(\{[^/]*\})?/g, '/{$1}')}`,
  )
  expect(registered.length).toBeGreaterThan(100)
  expect([...new Set(registered)].filter((route) => !known.has(route))).toEqual([])
  expect(routesOf(tables.other).filter((route) => !registered.includes(route))).toEqual([])
})

test('every call that names a user, or something that belongs to a user, is in the ownership table', () => {
  const named = endpoints.filter(({ endpoint: { path, access, params, body } }) => {
    if (access === 'public' || !/^\/api\/(user|token|topup)\b/.test(path)) return false
    const fields = Object.keys({ ...shapeOf(params), ...shapeOf(body) })
    return fields.some((field) => field === 'id' || field === 'user_id') || path === '/api/user/manage'
  })
  const names = named.map(({ endpoint }) => `${endpoint.method} ${endpoint.path}`)
  expect(differences(names, routesOf(tables.whose))).toEqual([])
  // All other objects with an id belong to the whole installation: a caller who may see one of them may see all. The
  // alerts of users are an exception: server/api/alert/routes.test.ts calls each of their endpoints for the alerts of
  // other users.
  const others = endpoints.filter(
    ({ endpoint: { path } }) => path.includes('{id}') && !names.some((each) => each.endsWith(path)),
  )
  expect(
    others.filter(
      ({ endpoint }) => !/^\/api\/(channel|virtual-model|redemption|alert|capture|import)\//.test(endpoint.path),
    ),
  ).toEqual([])
})

function shapeOf(schema: z.ZodMiniType): object {
  return schema instanceof z.ZodMiniObject ? schema.shape : {}
}

for (const who of whoNames) {
  for (const way of who === 'none' ? (['cookie'] as const) : (['cookie', 'token'] as const)) {
    test(`every management call has the outcome in the table: ${who === 'none' ? 'nobody logged in' : `${who} by ${way}`}`, async () => {
      for (const { route, cells } of tables.management) {
        const person = await gate.person(who === 'none' ? 'user' : who)
        const me = meOf(person, who === 'none' ? {} : ways[way](person))
        const response = await successes[nameOf.get(route) ?? '']?.(gate, me)
        if (!response) throw new Error(`no call for ${route}`)
        await expectOutcome([route, who, way], wordOf(cells[who] ?? '', way), response)
      }
    })
  }
}

/** A call on a user, for each row of the ownership table. */
const onSomebody: Readonly<Record<string, (whose: Person) => [method: string, path: string, body?: unknown]>> = {
  'GET /api/user/{id}': ({ id }) => ['GET', `/api/user/${id}`],
  'PUT /api/user/': ({ id }) => ['PUT', '/api/user/', { id, display_name: 'Renamed' }],
  'POST /api/user/manage': ({ username }) => ['POST', '/api/user/manage', { username, action: 'disable' }],
  'DELETE /api/user/{id}': ({ id }) => ['DELETE', `/api/user/${id}`],
  'GET /api/user/{id}/tokens': ({ id }) => ['GET', `/api/user/${id}/tokens`],
  'PUT /api/user/{id}/tokens/{token}': ({ id, tokenId }) => ['PUT', `/api/user/${id}/tokens/${tokenId}`, { status: 2 }],
  'GET /api/user/{id}/sessions': ({ id }) => ['GET', `/api/user/${id}/sessions`],
  'DELETE /api/user/{id}/sessions/{session}': (whose) => [
    'DELETE',
    `/api/user/${whose.id}/sessions/${sessionOf(gate, whose)}`,
  ],
  'DELETE /api/user/{id}/sessions': ({ id }) => ['DELETE', `/api/user/${id}/sessions`],
  'POST /api/topup': ({ id }) => ['POST', '/api/topup', { user_id: id, quota: 1 }],
  'GET /api/token/{id}': ({ tokenId }) => ['GET', `/api/token/${tokenId}`],
  'PUT /api/token/': ({ tokenId }) => ['PUT', '/api/token/', { id: tokenId, name: 'renamed' }],
  'POST /api/token/{id}/rotate': ({ tokenId }) => ['POST', `/api/token/${tokenId}/rotate`, {}],
  'DELETE /api/token/{id}/old-key': ({ tokenId }) => ['DELETE', `/api/token/${tokenId}/old-key`],
  'DELETE /api/token/{id}': ({ tokenId }) => ['DELETE', `/api/token/${tokenId}`],
}

for (const way of ['cookie', 'token'] as const) {
  test(`every call on a user has the outcome in the ownership table, by ${way}`, async () => {
    for (const { route, cells } of tables.whose) {
      for (const [column, word] of Object.entries(cells)) {
        const [who = '', whose = ''] = column.split('→') as [Exclude<Who, 'none'>, Exclude<Who, 'none'> | 'self']
        const person = await gate.person(who || 'user')
        const target = whose === 'self' ? person : await gate.person(whose || 'user')
        const call = onSomebody[route]?.(target)
        if (!call) throw new Error(`no call for ${route}`)
        const [method, path, body] = call
        const response = await gate.call(method, path, { as: ways[way](person), ...(body !== undefined && { body }) })
        await expectOutcome([route, column], word, response)
      }
    }
  })
}

test('an ordinary user has no access to other users’ accounts or tokens', async () => {
  const [me, other] = [await gate.person('user'), await gate.person('user')]
  for (const [route, callOn] of Object.entries(onSomebody)) {
    const [method, path, body] = callOn(other)
    const response = await gate.call(method, path, { as: ways.token(me), ...(body !== undefined && { body }) })
    await expectOutcome([route], route.includes('/token/') ? 'none' : 'no', response)
  }
})

test('an option that is reserved for root can be written by root but not by an admin', async () => {
  for (const who of ['admin', 'root'] as const) {
    const person = await gate.person(who)
    const body = { key: 'RegisterEnabled', value: 'true' }
    const response = await gate.call('PUT', '/api/option/', { as: ways.token(person), body })
    await expectOutcome([who], who === 'admin' ? 'root' : 'ok', response)
  }
})

test('a relay token gives no access to the management API', async () => {
  const { relayToken } = await gate.person('root')
  for (const { name, endpoint } of endpoints) {
    if (endpoint.access === 'public') continue
    const path = endpoint.path.replaceAll(/\{\w+\}/g, '1')
    await expectOutcome([name], 'bad', await gate.call(endpoint.method, path, { as: { relayToken } }))
  }
})
