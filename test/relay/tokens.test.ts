import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { type Caller, chat, expectError, type Rig, type Seen, see, startRelayRig, until } from './setup.ts'

let rig: Rig
let channel: number

beforeAll(async () => {
  rig = await startRelayRig({ channels: false, env: { TRUSTED_PROXIES: '127.0.0.1' } })
  channel = await rig.channel()
})
afterAll(() => rig[Symbol.asyncDispose]())

function call(authorization: string | undefined, init: RequestInit = {}, body: unknown = chat): Promise<Seen> {
  return see(
    fetch(`${rig.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(body),
      ...init,
      headers: { ...(authorization !== undefined && { authorization }), ...(init.headers as object) },
    }),
  )
}

/** Checks that a refused call did not reach an upstream or change a balance. */
async function refused(seen: Seen, status: number, code: string, caller?: Caller): Promise<void> {
  expectError(seen, status, code)
  expect(rig.upstream.requests).toEqual([])
  if (caller) expect(await rig.gateway.balances(caller.userId, caller.tokenId)).toMatchObject({ used: 0, holds: 0 })
}

describe('an invalid token gets 401 invalid_token:', () => {
  const headers: Record<string, string | undefined> = {
    'no header': undefined,
    'an empty header': '',
    'only the scheme': 'Bearer',
    'the scheme and spaces': 'Bearer    ',
    'only the prefix': 'Bearer sk-',
    'another scheme': 'Basic dXNlcjpwYXNz',
    'an unknown token': 'Bearer sk-0000000000000000000000000000000000000000000000000',
    'an unknown token with a channel': 'Bearer sk-000000000000000000000000000000000000000000000000-1',
    'a quote and an SQL comment': "Bearer sk-' OR 1=1 --",
    'a very long token': `Bearer sk-${'x'.repeat(8000)}`,
    'two tokens': 'Bearer sk-a, Bearer sk-b',
  }
  for (const [name, value] of Object.entries(headers)) {
    test(name, async () => refused(await call(value), 401, 'invalid_token'))
  }

  test('an access token of the management API, or a token in other headers or in the query', async () => {
    const { token } = await rig.caller()
    await refused(await call('testgatewayaccesstoken'), 401, 'invalid_token')
    await refused(
      await call(undefined, { headers: { 'x-api-key': token, 'api-key': token, cookie: token } }),
      401,
      'invalid_token',
    )
  })

  test('a valid token is accepted in each of the usual headers and spellings', async () => {
    const { token } = await rig.caller()
    for (const form of [`Bearer ${token}`, `bearer ${token}`, token, token.slice(3), `Bearer   ${token.slice(3)} `]) {
      expect((await call(form)).status).toBe(200)
    }
    rig.upstream.requests.length = 0
  })
})

describe('a token that must not be used:', () => {
  const now = Math.floor(Date.now() / 1000)
  const cases: readonly { name: string; fields: Parameters<Rig['caller']>[1]; status: number; code: string }[] = [
    { name: 'expired by time', fields: { token: { expired_time: now - 5 } }, status: 401, code: 'token_expired' },
    { name: 'expired by status', fields: { token: { status: 3 } }, status: 401, code: 'token_expired' },
    { name: 'exhausted by status', fields: { token: { status: 4 } }, status: 401, code: 'token_exhausted' },
    { name: 'disabled', fields: { token: { status: 2 } }, status: 401, code: 'token_unavailable' },
    { name: 'of a banned owner', fields: { user: { status: 2 } }, status: 403, code: 'user_banned' },
    {
      name: 'for another subnet',
      fields: { token: { subnet: '10.0.0.0/8, 2001:db8::/32' } },
      status: 403,
      code: 'ip_not_allowed',
    },
    {
      name: 'with an invalid subnet',
      fields: { token: { subnet: 'everywhere' } },
      status: 403,
      code: 'ip_not_allowed',
    },
    { name: 'for other models', fields: { token: { models: 'gpt-4o,M' } }, status: 403, code: 'model_not_allowed' },
  ]
  for (const { name, fields, status, code } of cases) {
    test(`${name} → ${status} ${code}`, async () => {
      const caller = await rig.caller(undefined, fields)
      await refused(await call(`Bearer ${caller.token}`), status, code, caller)
    })
  }

  test('a token whose owner was deleted gets 403 user_banned or 401 invalid_token', async () => {
    const caller = await rig.caller()
    expect((await call(`Bearer ${caller.token}`)).status).toBe(200)
    rig.upstream.requests.length = 0
    await rig.gateway.api('POST', '/api/user/manage', {
      username: (await userOf(caller)).username,
      action: 'delete',
    })
    const seen = await call(`Bearer ${caller.token}`)
    expect([401, 403]).toContain(seen.status)
    expectError(seen, seen.status, seen.status === 403 ? 'user_banned' : 'invalid_token')
    expect(rig.upstream.requests).toEqual([])
  })

  test('a ban takes effect with the next call', async () => {
    const caller = await rig.caller()
    expect((await call(`Bearer ${caller.token}`)).status).toBe(200)
    rig.upstream.requests.length = 0
    await rig.gateway.api('POST', '/api/user/manage', {
      username: (await userOf(caller)).username,
      action: 'disable',
    })
    await refused(await call(`Bearer ${caller.token}`), 403, 'user_banned')
  })

  test('an expired token is marked as expired when it is used', async () => {
    const caller = await rig.caller(undefined, { token: { expired_time: now - 5 } })
    await call(`Bearer ${caller.token}`)
    const { read } = rig.gateway.context.store
    const status = () =>
      read.selectFrom('tokens').select('status').where('id', '=', caller.tokenId).executeTakeFirstOrThrow()
    await until(async () => (await status()).status === 3)
  })

  test('a token’s subnets are compared with the address that a trusted proxy reports', async () => {
    const caller = await rig.caller(undefined, { token: { subnet: '203.0.113.0/24,2001:db8::/32' } })
    const from = (address: string) => call(`Bearer ${caller.token}`, { headers: { 'x-forwarded-for': address } })
    for (const address of ['203.0.113.9', '::ffff:203.0.113.9', '198.51.100.1, 203.0.113.9', '2001:db8::1']) {
      expect([address, (await from(address)).status]).toEqual([address, 200])
    }
    rig.upstream.requests.length = 0
    for (const address of ['203.0.114.9', '203.0.113.9, 198.51.100.1', 'garbage', '2001:db9::1']) {
      await refused(await from(address), 403, 'ip_not_allowed')
    }
  })

  test('an IPv4 subnet may be written as IPv6, and a shortened subnet matches no address', async () => {
    const from = async (subnet: string, address: string) => {
      const caller = await rig.caller(undefined, { token: { subnet } })
      return (await call(`Bearer ${caller.token}`, { headers: { 'x-forwarded-for': address } })).status
    }
    expect(await from('::ffff:203.0.113.0/120', '203.0.113.9')).toBe(200)
    expect(await from('::ffff:203.0.113.0/120', '203.0.114.9')).toBe(403)
    expect(await from('172.16/12', '172.0.0.9')).toBe(403)
  })
})

async function userOf({ userId }: Caller): Promise<{ username: string }> {
  const { read } = rig.gateway.context.store
  return read.selectFrom('users').select('username').where('id', '=', userId).executeTakeFirstOrThrow()
}

describe('a key with a channel id, sk-…-<channel>', () => {
  test('gives an admin the chosen channel', async () => {
    const other = await rig.channel({ key: 'chosen', priority: -5 })
    for (let index = 0; index < 5; index++) {
      expect((await call(`Bearer ${rig.gateway.token}-${other}`)).status).toBe(200)
      expect(rig.upstream.last.key).toBe('chosen')
    }
    rig.upstream.requests.length = 0
  })

  test('is refused with 403 for anybody else', async () => {
    const caller = await rig.caller()
    await refused(await call(`Bearer ${caller.token}-${channel}`), 403, 'channel_choice_not_allowed', caller)
  })

  test.each(['999999', 'abc', '', '1.5', '-1', '1e0', '99999999999999999999'])(
    'is refused with 400 if an admin writes "%s" in place of an id',
    async (id) => {
      await refused(await call(`Bearer ${rig.gateway.token}-${id}`), 400, 'invalid_channel_id')
    },
  )

  test('is refused with 403 for a disabled channel', async () => {
    const disabled = await rig.channel()
    await rig.gateway.api('PUT', '/api/channel/', { id: disabled, status: 2 })
    await until(() => rig.gateway.context.relay.relay.routing().channel(disabled)?.status === 2)
    await refused(await call(`Bearer ${rig.gateway.token}-${disabled}`), 403, 'channel_disabled')
  })

  test('is refused with 400 for a channel that does not support the call', async () => {
    const azure = await rig.channel({ type: 3 })
    const seen = await see(
      rig.gateway.post('/v1/moderations', { model: 'm', input: 'Hi' }, `${rig.gateway.token}-${azure}`),
    )
    await refused(seen, 400, 'mode_not_supported')
  })
})

describe('a model', () => {
  test('that is not on any channel gets 503', async () => {
    const caller = await rig.caller()
    await refused(
      await call(`Bearer ${caller.token}`, {}, { ...chat, model: 'nobody-has-it' }),
      503,
      'no_available_channel',
      caller,
    )
  })

  test('that no channel serves for this kind of call is refused with an error that names the model and the kind of call', async () => {
    await rig.channel({ type: 14, models: 'claude' })
    const { token } = await rig.caller()
    const seen = await see(rig.gateway.post('/v1/embeddings', { model: 'claude', input: 'a' }, token))
    expect([seen.status, seen.error]).toMatchObject([
      400,
      {
        code: 'mode_not_supported',
        message: expect.stringContaining('no channel for model claude in group default serves embeddings'),
      },
    ])
  })

  test('that is available only to another group gets 503', async () => {
    const caller = await rig.caller(undefined, { user: { group: 'vip' } })
    await refused(await call(`Bearer ${caller.token}`), 503, 'no_available_channel', caller)
  })

  test('without a price is refused or charged at the fallback ratio, depending on UnpricedModelPolicy', async () => {
    await rig.channel({ models: 'unheard-of' })
    const body = { ...chat, model: 'unheard-of' }
    const caller = await rig.caller()
    await refused(await call(`Bearer ${caller.token}`, {}, body), 503, 'model_not_priced', caller)
    await rig.gateway.setOption('UnpricedModelPolicy', 'fallback')
    await rig.gateway.setOption('UnpricedModelRatio', '2')
    rig.upstream.next(fake.ok())
    expect((await call(`Bearer ${caller.token}`, {}, body)).status).toBe(200)
    expect((await rig.gateway.balances(caller.userId, caller.tokenId)).used).toBeGreaterThanOrEqual(30)
    rig.upstream.requests.length = 0
    await rig.gateway.setOption('UnpricedModelPolicy', 'refuse')
  })
})
