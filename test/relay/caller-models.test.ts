// The field `models` of a request: a list of models that are tried one after the other.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { type Caller, callerCalls, charged, chat, expectError, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig
beforeAll(async () => {
  rig = await startRelayRig({ channels: false, settings: { ModelRatio: '{"m":1,"m2":3}', RetryTimes: '0' } })
  await rig.gateway.api('POST', '/api/virtual-model/', {
    name: 'vip-only',
    steps: [{ model: 'm' }],
    groups: ['vip'],
  })
  await rig.gateway.api('POST', '/api/virtual-model/', { name: 'best', steps: [{ model: 'm9' }, { model: 'm2' }] })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(async () => {
  await rig.clear({ CallerFallbacks: 'true' })
  await rig.channel({ key: 'key-m' })
  await rig.channel({ key: 'key-m2', models: 'm2' })
})

const keys = () => rig.upstream.requests.map(({ key }) => key)
async function call(body: object, account?: Caller, path = '/v1/chat/completions') {
  const caller = account ?? (await rig.caller())
  const { messages } = chat
  return { caller, seen: await see(rig.gateway.post(path, { messages, ...body }, caller.token)) }
}

test('the first model answers, and the list is not sent upstream', async () => {
  const { caller, seen } = await call({ model: 'm', models: ['m', 'm2'], temperature: 0.5 })
  expect(seen.status).toBe(200)
  expect(seen.headers.get('x-tollgate-model')).toBe('m')
  expect(rig.upstream.requests[0]?.json).toEqual({ ...chat, temperature: 0.5 })
  const [row] = await charged(rig, caller, 15)
  expect(row).toMatchObject({ model_name: 'm', asked_model: '' })
})

test('if the first model fails, the next one answers at its own price; the log names what was requested', async () => {
  rig.upstream.forKey('key-m', fake.status(503))
  const { caller, seen } = await call({ models: ['m', 'm2'] })
  expect([seen.status, seen.headers.get('x-tollgate-model'), keys()]).toEqual([200, 'm2', ['key-m', 'key-m2']])
  for (const { json } of rig.upstream.requests) expect(json).not.toHaveProperty('models')
  const [row] = await charged(rig, caller, 45)
  expect(row).toMatchObject({ model_name: 'm2', asked_model: 'm' })
})

test('the Messages and Responses APIs also accept a list, and it may contain virtual models', async () => {
  rig.upstream.forKey('key-m', fake.status(503))
  for (const name of ['messages', 'responses'] as const) {
    const { path, body } = callerCalls[name]
    const { seen } = await call({ ...body, models: ['m', 'best'] }, undefined, path)
    expect([name, seen.status, seen.headers.get('x-tollgate-model')]).toEqual([name, 200, 'm2'])
  }
})

test('a token needs permission for each model', async () => {
  const caller = await rig.caller(undefined, { token: { models: 'm' } })
  const { seen } = await call({ model: 'm', models: ['m2'] }, caller)
  expectError(seen, 403, 'model_not_allowed')
  expect(keys()).toEqual([])
  const best = await rig.caller(undefined, { token: { models: 'm,best' } })
  expect((await call({ model: 'm', models: ['best'] }, best)).seen.status).toBe(200)
})

test('a virtual model of another group cannot be reached through the list', async () => {
  rig.upstream.forKey('key-m2', fake.status(503))
  const { caller, seen } = await call({ model: 'm2', models: ['vip-only'] })
  expect(seen.status).toBe(503)
  expect(keys()).toEqual(['key-m2'])
  await charged(rig, caller, 0)
})

test.each([
  [{ model: 'm', models: 'm2' }, 'models'],
  [{ model: 'm', models: [7] }, 'models'],
  [{ model: 'm', models: [''] }, 'models'],
  [{ model: 'm', models: ['x'.repeat(257)] }, 'models'],
  [{ model: 'm', models: { 0: 'm2' } }, 'models'],
  [{ model: 'm', models: Array.from({ length: 8 }, (_, index) => `m${index}`) }, 'models'],
  [{ model: 7, models: ['m2'] }, 'model'],
  [{ model: 'm', Models: ['m2'] }, 'Models'],
  [{ model: 'm', fallbacks: ['m2'] }, 'fallbacks'],
] as const)('refuses %j', async (body, param) => {
  const { caller, seen } = await call(body)
  expectError(seen, 400, 'invalid_field_value')
  expect(seen.error?.param).toBe(param)
  expect(keys()).toEqual([])
  await charged(rig, caller, 0)
})

test('an empty list has no effect, and is not sent upstream', async () => {
  for (const models of [[], null]) {
    const { seen } = await call({ model: 'm', models })
    expect([seen.status, seen.headers.get('x-tollgate-model')]).toEqual([200, null])
  }
  for (const { json } of rig.upstream.requests) expect(json).not.toHaveProperty('models')
})

test('calls other than conversations cannot have a list of models', async () => {
  const { seen } = await call({ model: 'm', input: 'Hi', models: ['m2'] }, undefined, '/v1/embeddings')
  expectError(seen, 400, 'invalid_field_value')
})

test('if the option is off, a list is refused', async () => {
  await rig.gateway.setOption('CallerFallbacks', 'false')
  const { seen } = await call({ model: 'm', models: ['m2'] })
  expectError(seen, 400, 'invalid_field_value')
  expect(seen.error?.param).toBe('models')
})
