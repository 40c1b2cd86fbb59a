// A request with an unknown field is refused with an error that names the field, so that a typo has no effect. Fields
// that the server itself returned are accepted, so a client can send back a whole object.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import type { Endpoint } from '../../contract/api/endpoint.ts'
import { api as contract } from '../../contract/api/index.ts'
import { createTestApi, type TestApi } from '../helpers/api-app.ts'
import { forEachDatabase } from '../helpers/databases.ts'

setDefaultTimeout(120_000)

const endpoints = Object.values(contract).flatMap((group) => Object.values(group as Record<string, Endpoint>))

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let root: { id: number; username: string; token: string }

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    root = await api.addPerson({ role: 100 })
  })
  afterEach(() => api.store.close())

  const call = async (method: string, path: string, body?: unknown) =>
    (await api.call(method, path, { as: root.token, ...(body !== undefined && { body }) })).json

  test('every call that accepts a body reports unknown fields by name', async () => {
    const writing = endpoints.filter(
      ({ method, textBody, fileBody }) =>
        (method === 'POST' || method === 'PUT') && textBody === undefined && fileBody === undefined,
    )
    expect(writing.length).toBeGreaterThan(15)
    for (const { method, path } of writing) {
      const { success, message } = await call(method, path.replace(/\{\w+\}/g, '1'), { no_such_field: 1, 'a b': 2 })
      expect([path, success, message]).toEqual([path, false, 'The input has unknown fields: no_such_field, a b.'])
    }
  })

  test('a call with an unknown field changes nothing', async () => {
    const made = await call('POST', '/api/token/', { name: 'one', remain_qouta: 5 })
    expect(made).toMatchObject({ success: false, message: 'The input has unknown fields: remain_qouta.' })
    expect((await call('GET', '/api/token/')).data).toEqual([])
  })

  test('names from JavaScript’s object prototype are refused as unknown fields', async () => {
    for (const name of ['constructor', '__proto__', 'toString']) {
      const answer = await api.call('POST', '/api/token/', { as: root.token, body: `{"name":"one","${name}":{}}` })
      expect([name, answer.json.message]).toEqual([name, `The input has unknown fields: ${name}.`])
    }
  })

  test('a whole row can be sent back as it was received', async () => {
    const person = await api.addPerson()
    await call('POST', '/api/token/', { name: 'one' })
    await call('POST', '/api/redemption/', { name: 'one', quota: 1 })
    await call('POST', '/api/channel/', {
      name: 'one',
      type: 1,
      key: 'k',
      models: 'm',
      group: 'default',
      groups: ['default'],
    })
    for (const [path, row] of [
      ['/api/token/', (await call('GET', '/api/token/1')).data],
      ['/api/redemption/', (await call('GET', '/api/redemption/1')).data],
      ['/api/channel/', (await call('GET', '/api/channel/1')).data],
      ['/api/user/', (await call('GET', `/api/user/${person.id}`)).data],
      ['/api/user/self', (await call('GET', '/api/user/self')).data],
    ] as const) {
      const { success, message } = await call('PUT', path, row)
      expect([path, success, message]).toEqual([path, true, expect.any(String)])
    }
  })
})
