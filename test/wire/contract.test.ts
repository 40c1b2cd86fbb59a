import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Endpoint } from '../../contract/api/endpoint.ts'
import { api as contract } from '../../contract/api/index.ts'
import { mayAccess } from '../../contract/roles.ts'
import { createTestApi, type TestApi } from '../helpers/api-app.ts'
import { forEachDatabase } from '../helpers/databases.ts'
import { openPublicPages } from '../helpers/mail-server.ts'

const endpoints: Endpoint[] = Object.values(contract).flatMap((resource) => Object.values(resource))

/** The path with values for its parameters, with and without the trailing slash. */
function forms({ path }: Endpoint): string[] {
  const bare = path.replaceAll(/\{\w+\}/g, '1').replace(/\/$/, '')
  return [bare, `${bare}/`]
}

test('no two endpoints have the same method and path, and every endpoint has a summary', () => {
  const names = endpoints.map((each) => `${each.method} ${each.path.replace(/\/$/, '')}`)
  expect(new Set(names).size).toBe(names.length)
  expect(endpoints.filter((each) => each.summary.length < 5)).toEqual([])
})

forEachDatabase((_, openFresh) => {
  let api: TestApi
  const people: Record<number, string> = {}

  beforeAll(async () => {
    api = await createTestApi(await openFresh())
    await openPublicPages(api)
    for (const role of [1, 10, 100]) people[role] = (await api.addPerson({ role })).token
  })
  afterAll(() => api.store.close())

  test('every endpoint is served with and without the trailing slash, without a redirect', async () => {
    for (const endpoint of endpoints) {
      for (const path of forms(endpoint)) {
        const { status } = await api.call(endpoint.method, path)
        expect([endpoint.method, path, status]).toEqual([
          endpoint.method,
          path,
          endpoint.access === 'public' ? 200 : 401,
        ])
      }
    }
  })

  test('every endpoint refuses roles below the required one, and the response is an envelope', async () => {
    for (const endpoint of endpoints) {
      for (const role of [1, 10, 100]) {
        if (mayAccess(role, endpoint.access)) continue
        const answer = await api.call(endpoint.method, forms(endpoint)[0] ?? '', { as: people[role] ?? '' })
        expect([endpoint.path, answer.status, answer.json.success]).toEqual([endpoint.path, 200, false])
        expect(answer.json.message).toContain('permission')
      }
    }
  })

  test('the response to every GET by root matches its schema', async () => {
    for (const endpoint of endpoints) {
      // Responses that are not JSON have no schema, and some of them never end. answers.test.ts tests them.
      if (endpoint.method !== 'GET' || endpoint.path === '/api/user/token' || endpoint.media !== undefined) continue
      const { status, headers, json } = await api.call('GET', forms(endpoint)[0] ?? '', { as: people[100] ?? '' })
      expect([endpoint.path, status]).toEqual([endpoint.path, 200])
      if (endpoint.media !== undefined) expect(headers.get('content-type')).toStartWith(endpoint.media)
      else if (endpoint.envelope !== 'bare')
        expect(json).toMatchObject({ success: expect.any(Boolean), message: expect.any(String) })
    }
    expect(api.warnings).toEqual([])
  })

  test('every route under /api is in the contract', () => {
    const named = new Set(
      endpoints.flatMap(({ method, path }) => {
        const bare = path.replaceAll(/\{(\w+)\}/g, ':$1').replace(/\/$/, '')
        return [`${method} ${bare}`, `${method} ${bare}/`]
      }),
    )
    const served = api.app.routes
      .filter((route) => route.method !== 'ALL')
      .map((route) => `${route.method} ${route.path}`)
    expect(served.filter((each) => !named.has(each))).toEqual([])
    expect(new Set(served).size).toBe(named.size)
  })

  test('every path is matched by its own route, not by an earlier path with a parameter', () => {
    const routes = api.app.routes.filter((route) => route.method !== 'ALL')
    for (const endpoint of endpoints) {
      const own = endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1').replace(/\/$/, '')
      const path = forms(endpoint)[0] ?? ''
      const first = routes.find(
        (route) =>
          route.method === endpoint.method && new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}$`).test(path),
      )
      expect([endpoint.method, path, first?.path]).toEqual([endpoint.method, path, own])
    }
  })

  test('unknown paths and wrong methods get 404 in OpenAI’s error format', async () => {
    for (const [method, path] of [
      ['GET', '/api/nothing'],
      ['GET', '/api'],
      ['DELETE', '/api/status'],
      ['PATCH', '/api/token/1'],
    ] as const) {
      const answer = await api.call(method, path)
      expect(answer.status).toBe(404)
      expect(answer.json.error).toEqual({
        message: expect.stringContaining(`Invalid URL (${method} ${path}) (request id: `),
        type: 'invalid_request_error',
        param: '',
        code: '',
      })
    }
  })
})
