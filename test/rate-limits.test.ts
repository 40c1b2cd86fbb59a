import { afterEach, describe, expect, test } from 'bun:test'
import { ConfigError, loadConfig } from '../server/config.ts'
import { startTestGateway, type TestGateway } from './helpers/test-gateway.ts'

let gateway: TestGateway | undefined
afterEach(async () => {
  await gateway?.close()
  gateway = undefined
})

/** Starts a gateway that trusts a proxy on this machine, so that tests can call from any address. */
async function start(env: Record<string, string>): Promise<TestGateway> {
  gateway = await startTestGateway({ env: { TRUSTED_PROXIES: '127.0.0.1', ...env } })
  return gateway
}

async function ask(path: string, from: string, init: RequestInit = {}): Promise<Response> {
  const { url = '', token = '' } = gateway ?? {}
  return fetch(url + path, {
    ...init,
    headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': from, ...(init.headers as Record<string, string>) },
  })
}

/** Calls until a call is refused. Returns how many calls were accepted, and the refusal. */
async function until429(
  path: string,
  from: string,
  init: RequestInit = {},
): Promise<{ passed: number; refused: Response }> {
  for (let passed = 0; passed < 50; passed++) {
    const answer = await ask(path, from, init)
    if (answer.status === 429) return { passed, refused: answer }
    await answer.arrayBuffer()
  }
  throw new Error(`${path} is not limited`)
}

const waitOf = (answer: Response) => Number(answer.headers.get('retry-after'))

describe('requests are limited per address, and each class has its own limit', () => {
  const login = { method: 'POST', body: JSON.stringify({ username: 'nobody', password: '' }) }
  const classes = [
    ['GLOBAL_API_RATE_LIMIT', '/api/status', '/api/notice', {}, 180],
    ['GLOBAL_API_RATE_LIMIT', '/dashboard/billing/usage', '/v1/dashboard/billing/subscription', {}, 180],
    ['GLOBAL_WEB_RATE_LIMIT', '/', '/some/page', {}, 180],
    ['CRITICAL_RATE_LIMIT', '/api/user/login', '/api/user/login', login, 1200],
  ] as const
  for (const [name, path, sibling, init, windowSeconds] of classes) {
    test(`${name}: ${path}`, async () => {
      await start({ [name]: '4' })
      const { passed, refused } = await until429(path, '203.0.113.7', init)
      expect(passed).toBe(4)
      expect(waitOf(refused)).toBeGreaterThan(0)
      expect(waitOf(refused)).toBeLessThanOrEqual(2 * windowSeconds)
      expect((await ask(sibling, '203.0.113.7', init)).status).toBe(429)
      // Other addresses and the relay API are not affected.
      expect((await ask(path, '203.0.113.8', init)).status).not.toBe(429)
      expect((await ask('/v1/models', '203.0.113.7')).status).toBe(200)
      expect((await ask('/healthz', '203.0.113.7')).status).toBe(200)
    })

    test(`${name}=0 switches the limit off: ${path}`, async () => {
      await start({ [name]: '0' })
      const answers = await Promise.all(Array.from({ length: 60 }, () => ask(path, '203.0.113.7', init)))
      expect(answers.filter(({ status }) => status === 429)).toEqual([])
    })
  }
})

describe('one caller cannot lock out another', () => {
  test('a caller who puts another address into the headers is counted under the real one', async () => {
    await start({ GLOBAL_API_RATE_LIMIT: '3' })
    // Entries to the left of the last proxy were written by the caller.
    await until429('/api/status', '203.0.113.7, 198.51.100.9')
    expect((await ask('/api/status', '203.0.113.7')).status).toBe(200)
    expect((await ask('/api/status', '198.51.100.9')).status).toBe(429)
  })

  test('without a trusted proxy the headers are ignored', async () => {
    await start({ GLOBAL_API_RATE_LIMIT: '3', TRUSTED_PROXIES: '' })
    for (let last = 0; last < 3; last++) expect((await ask('/api/status', `203.0.113.${last}`)).status).toBe(200)
    expect((await ask('/api/status', '203.0.113.99')).status).toBe(429)
  })

  test('an IPv6 customer has one limit for the whole prefix, and does not use up another customer’s', async () => {
    await start({ GLOBAL_API_RATE_LIMIT: '3' })
    for (let host = 1; host <= 3; host++) expect((await ask('/api/status', `2001:db8:1:2::${host}`)).status).toBe(200)
    expect((await ask('/api/status', '2001:db8:1:2:ffff::1')).status).toBe(429)
    expect((await ask('/api/status', '2001:db8:1:3::1')).status).toBe(200)
  })
})

test('each class has its own error message', async () => {
  await start({ GLOBAL_API_RATE_LIMIT: '1', GLOBAL_WEB_RATE_LIMIT: '1' })
  const api = (await until429('/api/status', '203.0.113.7')).refused
  expect(await api.json()).toEqual({
    success: false,
    code: 'too_many_requests',
    message: 'Too many requests, please try again later.',
  })
  const billing = (await until429('/dashboard/billing/usage', '203.0.113.7')).refused
  expect(billing.headers.get('access-control-allow-origin')).toBe('*')
  expect(await billing.json()).toMatchObject({ error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' } })
  const web = (await until429('/login', '203.0.113.7')).refused
  expect(web.headers.get('content-type')).toContain('text/plain')
})

test('an invalid limit prevents the start, and an error message gives the reason', () => {
  for (const name of ['GLOBAL_API_RATE_LIMIT', 'GLOBAL_WEB_RATE_LIMIT', 'CRITICAL_RATE_LIMIT']) {
    for (const value of ['-1', '1.5', 'many', '1000001']) {
      const load = () => loadConfig({ SECRET_KEY: 'a secret key for tests only', DATA_DIR: '.', [name]: value })
      expect(load).toThrow(ConfigError)
      expect(load).toThrow(`${name} is "${value}", but must be a whole number from 0 to 1000000.`)
    }
  }
})
