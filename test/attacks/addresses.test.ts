// X-Forwarded-For is trusted only when it comes from the operator's own proxies. Addresses that a caller writes into it
// are ignored by the rate limits, by the check of a token's allowed networks and by the audit log. Numbers in titles,
// such as 8.6-2, are items of table.md.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { forEachDatabase } from '../helpers/databases.ts'
import { startFakeUpstream } from '../helpers/fake-upstream.ts'
import { startTestGateway } from '../helpers/test-gateway.ts'
import { scene } from './setup.ts'

setDefaultTimeout(120_000)

const forged = (number: number) => ({
  'x-forwarded-for': `198.51.100.${number}, 10.0.0.${number}`,
  'x-real-ip': `198.51.100.${number}`,
  'x-client-ip': `198.51.100.${number}`,
  'cf-connecting-ip': `198.51.100.${number}`,
  forwarded: `for=198.51.100.${number}`,
})

forEachDatabase((_, openFresh) => {
  test('8.6-2 spoofed X-Forwarded-For: the rate limits count by socket address', async () => {
    const windowMs = 60_000
    const { api } = await scene(await openFresh(), {
      rateRules: {
        api: { limit: 12, windowMs },
        critical: { limit: 3, windowMs },
        loginFailures: { limit: 0, windowMs },
      },
    })
    const statuses: number[] = []
    for (let number = 1; number <= 5; number++) {
      const body = { username: 'nobody', password: 'wrong password' }
      statuses.push((await api.call('POST', '/api/user/login', { body, headers: forged(number) })).status)
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429])
    for (let number = 6; number <= 12; number++) {
      expect((await api.call('GET', '/api/status', { headers: forged(number) })).status).toBe(200)
    }
    expect((await api.call('GET', '/api/status', { headers: forged(13) })).status).toBe(429)
    expect((await api.call('GET', '/api/status', { address: '203.0.113.77' })).status).toBe(200)
    await api.store.close()
  })

  test('8.6-2 spoofed X-Forwarded-For: password guessing is stopped, and the audit log shows the real address', async () => {
    const off = { limit: 0, windowMs: 1000 }
    const set = await scene(await openFresh(), {
      rateRules: { api: off, critical: off, loginFailures: { limit: 2, windowMs: 60_000 } },
    })
    const victim = await set.person()
    const admin = await set.person(10)
    const statuses: number[] = []
    for (let number = 1; number <= 4; number++) {
      const body = { username: victim.username, password: `wrong password ${number}` }
      statuses.push(
        (await set.api.call('POST', '/api/user/login', { body, headers: forged(number), address: '203.0.113.5' }))
          .status,
      )
    }
    expect(statuses).toEqual([200, 200, 429, 429])
    const trail = (await set.api.call('GET', '/api/audit/?action=login.fail', { as: admin.token })).json.data
    expect(trail.map(({ ip }: { ip: string }) => ip)).toEqual(['203.0.113.5', '203.0.113.5'])
    await set.api.store.close()
  })

  test('8.6-2 spoofed X-Forwarded-For: in a chain through a trusted proxy, the entries written by the caller are ignored', async () => {
    const windowMs = 60_000
    const off = { limit: 0, windowMs }
    const { api } = await scene(await openFresh(), {
      trustedProxies: ['10.0.0.1'],
      rateRules: { api: { limit: 2, windowMs }, critical: off, loginFailures: off },
    })
    const through = (written: string) =>
      api.call('GET', '/api/status', { address: '10.0.0.1', headers: { 'x-forwarded-for': `${written}, 203.0.113.9` } })
    expect((await through('198.51.100.1')).status).toBe(200)
    expect((await through('198.51.100.2')).status).toBe(200)
    expect((await through('198.51.100.3')).status).toBe(429)
    expect((await through('10.0.0.1, 198.51.100.4')).status).toBe(429)
    await api.store.close()
  })
})

test('8.6-2 spoofed X-Forwarded-For: a token that is bound to a network works only from that network', async () => {
  await using upstream = await startFakeUpstream()
  await using gate = await startTestGateway()
  await gate.setOption('ModelRatio', '{"m":1}')
  await gate.addChannel({ base_url: upstream.url, models: 'm' })
  const bound = await gate.addCaller({ user: 1e6 }, { subnet: '198.51.100.0/24' })
  const home = await gate.addCaller({ user: 1e6 }, { subnet: '127.0.0.0/8,::1/128' })
  const chat = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
  for (let number = 1; number < 4; number++) {
    const away = await gate.post('/v1/chat/completions', chat, bound.token, { headers: forged(number) })
    expect(away.status).toBe(403)
    const near = await gate.post('/v1/chat/completions', chat, home.token, { headers: forged(number) })
    expect(near.status).toBe(200)
    await near.text()
  }
  expect(upstream.requests).toHaveLength(3)
})
