// Virtual models decide which model and which channels a call reaches, and what it costs.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { type Caller, chat, type Rig, see, startRelayRig } from '../relay/setup.ts'

setDefaultTimeout(60_000)

let rig: Rig
beforeAll(async () => {
  rig = await startRelayRig({ channels: false, settings: { ModelRatio: '{"m":1,"m2":3,"secret":1}', RetryTimes: '0' } })
  await rig.channel({ key: 'key-m', name: 'channel of m' })
  await rig.channel({ key: 'key-m2', models: 'm2', name: 'channel of m2' })
  await rig.channel({ key: 'key-secret', models: 'secret', group: 'staff', name: 'channel of staff' })
  const make = (body: object) => rig.gateway.api('POST', '/api/virtual-model/', body)
  await make({ name: 'best', steps: [{ model: 'm' }, { model: 'm2' }] })
  await make({ name: 'staff-model', steps: [{ model: 'secret' }], groups: ['staff'] })
  await make({ name: 'outer', steps: [{ model: 'best' }] })
})
afterAll(() => rig[Symbol.asyncDispose]())

const ask = (caller: Caller, body: object) =>
  see(rig.gateway.post('/v1/chat/completions', { ...chat, ...body }, caller.token))
const read = async (path: string, caller: Caller) =>
  (await fetch(`${rig.gateway.url}${path}`, { headers: { authorization: `Bearer ${caller.token}` } })).text()

test('nobody but an admin reads, changes or tries virtual models, whatever credentials are sent', async () => {
  const user = await rig.caller()
  const calls = [
    ['GET', '/api/virtual-model/', undefined],
    ['POST', '/api/virtual-model/', { name: 'mine', steps: [{ model: 'secret', group: 'staff' }] }],
    ['PUT', '/api/virtual-model/', { id: 1, groups: [] }],
    ['DELETE', '/api/virtual-model/1', undefined],
    ['POST', '/api/virtual-model/dry-run', { model: 'best', group: 'staff' }],
  ] as const
  for (const [method, path, body] of calls) {
    for (const authorization of ['', `Bearer ${user.token}`, user.token]) {
      const answer = await fetch(`${rig.gateway.url}${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...(authorization !== '' && { authorization }) },
        ...(body && { body: JSON.stringify(body) }),
      })
      expect([method, path, ((await answer.json()) as { success: boolean }).success]).toEqual([method, path, false])
    }
  }
  const list = await rig.gateway.api<{ name: string }[]>('GET', '/api/virtual-model/')
  expect(list.map(({ name }) => name)).toEqual(['best', 'outer', 'staff-model'])
})

test('a user sees the names of the models that may answer, but no channels, and no virtual models of other groups', async () => {
  const user = await rig.caller()
  const seen = [await read('/v1/models', user)]
  rig.upstream.forKey('key-m', fake.status(503))
  rig.upstream.forKey('key-m2', fake.status(500))
  const failed = await ask(user, { model: 'best' })
  rig.upstream.forKey('key-m', fake.ok())
  rig.upstream.forKey('key-m2', fake.ok())
  const answered = await ask(user, { model: 'best' })
  seen.push(failed.text, answered.text, JSON.stringify([...answered.headers, ...failed.headers]))
  expect(seen.join()).toContain('best')
  for (const text of seen) {
    expect(text).not.toContain('channel of')
    expect(text).not.toContain('secret')
    expect(text).not.toContain('staff')
    expect(text).not.toContain('key-m')
  }
})

test('a token reaches no model that its list does not permit, by any name', async () => {
  const caller = await rig.caller(undefined, { token: { models: 'm' } })
  rig.upstream.forKey('key-m', fake.status(503))
  rig.upstream.requests.length = 0
  const bodies = [
    { model: 'm2' },
    { model: 'best' },
    { model: 'outer' },
    { model: 'staff-model' },
    { model: 'secret' },
    { models: ['m', 'm2'] },
    { model: 'm', models: ['best', 'secret'] },
    { model: 'm', models: ['staff-model'] },
    { model: 'best ', models: ['m'] },
    { model: 'BEST' },
  ]
  for (const body of bodies) expect([body, (await ask(caller, body)).status >= 400]).toEqual([body, true])
  expect(rig.upstream.requests.filter(({ key }) => key !== 'key-m')).toEqual([])
  rig.upstream.forKey('key-m', fake.ok())
})

test('a user outside a virtual model’s group cannot call it, nor the models of its steps by their own names', async () => {
  const caller = await rig.caller()
  rig.upstream.requests.length = 0
  for (const body of [{ model: 'staff-model' }, { model: 'secret' }, { model: 'staff-model', models: ['secret'] }])
    expect([body, (await ask(caller, body)).status]).toEqual([body, 503])
  expect(rig.upstream.requests).toEqual([])
  const staff = await rig.caller(undefined, { user: { group: 'staff' } })
  expect((await ask(staff, { model: 'staff-model' })).status).toBe(200)
})

test('if a caller has no quota, no step of a virtual model is called', async () => {
  const caller = await rig.caller({ user: 0 })
  rig.upstream.requests.length = 0
  for (const body of [{ model: 'best' }, { models: ['m', 'm2'] }]) expect((await ask(caller, body)).status).toBe(403)
  expect(rig.upstream.requests).toEqual([])
})

test('if a caller’s quota covers only the cheap step, the expensive step is not called', async () => {
  // A call of `m` costs 15 units, and a call of `m2` costs 45 units.
  const caller = await rig.caller({ user: 20, token: 20 })
  rig.upstream.forKey('key-m', fake.status(503))
  rig.upstream.requests.length = 0
  const seen = await ask(caller, { model: 'best', max_tokens: 5 })
  const { quota, used } = await rig.gateway.balances(caller.userId, caller.tokenId)
  expect(quota).toBeGreaterThanOrEqual(0)
  expect(quota + used).toBe(20)
  expect(seen.status).toBe(503)
  expect(rig.upstream.requests.map(({ key }) => key)).toEqual(['key-m'])
  rig.upstream.forKey('key-m', fake.ok())
})

test('names that could break a header or a list are refused, or encoded', async () => {
  const make = (name: string) =>
    rig.gateway.api('POST', '/api/virtual-model/', { name, steps: [{ model: 'm' }] }).then(
      () => 'made',
      () => 'refused',
    )
  for (const name of ['a\r\nx-evil: 1', 'a,b', 'a\u2028b', '\u0000'])
    expect([name, await make(name)]).toEqual([name, 'refused'])
  await rig.channel({ key: 'key-odd', models: 'mödel→東' })
  await rig.gateway.setOption('ModelRatio', '{"m":1,"m2":3,"secret":1,"mödel→東":1}')
  await rig.gateway.api('POST', '/api/virtual-model/', { name: 'odd', steps: [{ model: 'mödel→東' }] })
  const seen = await ask(await rig.caller(), { model: 'odd' })
  expect([seen.status, decodeURIComponent(seen.headers.get('x-tollgate-model') ?? '')]).toEqual([200, 'mödel→東'])
})
