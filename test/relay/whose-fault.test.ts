// Who is at fault for a failure, whether a retry can help, and what callers see when an upstream refuses the operator's
// account.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { errorDetail } from '../helpers/error-detail.ts'
import * as fake from '../helpers/fake-upstream.ts'
import {
  type CallerName,
  callerCalls,
  callers,
  chargedUnits,
  chatStream,
  type Rig,
  see,
  startRelayRig,
} from './setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.clear({ RetryTimes: '0', AutomaticDisableChannelEnabled: 'false' }))

/** Channel types, by the dialect that their upstreams use. */
const channelTypes = { chat: 1, messages: 14, gemini: 24 } as const

async function ask(caller: CallerName, init: { token?: string; headers?: Record<string, string>; stream?: true } = {}) {
  const { path, body } = callerCalls[caller]
  const account = await rig.caller()
  const seen = await see(
    fetch(rig.gateway.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${init.token ?? account.token}`,
        'content-type': 'application/json',
        ...init.headers,
      },
      body: JSON.stringify(init.stream ? { ...body, stream: true } : body),
    }),
  )
  return { account, seen }
}

const json = (status: number, body: unknown, headers: readonly (readonly [string, string])[] = []) =>
  fake.behaviour(`${status} ${JSON.stringify(body).slice(0, 90)}`, async (exchange) => {
    exchange.head(status, [['content-type', 'application/json'], ...headers])
    await exchange.write(JSON.stringify(body))
    exchange.end()
  })

/** Words that make a client ask its user for another key, or make users think that their own account is at fault. */
const alarming =
  /key|auth|credential|log.?in|token|quota|credit|billing|balance|account|plan|permission|forbidden|40[0-9]/i

function expectUnavailable(caller: CallerName, seen: Awaited<ReturnType<typeof see>>): void {
  expect({ status: seen.status, text: seen.status === 503 ? '' : seen.text }).toEqual({ status: 503, text: '' })
  const { kind, message } = errorDetail(seen.text)
  const kinds = {
    chat: 'upstream_unavailable',
    responses: 'upstream_unavailable',
    messages: 'overloaded_error',
    gemini: 'UNAVAILABLE',
  }
  expect(kind).toBe(kinds[caller])
  expect(message.replace(/ \(request id: \d+\)$/, '')).not.toMatch(alarming)
  expect(seen.headers.get('retry-after')).toBeNull()
}

describe('if an upstream refuses the operator’s account, the caller gets 503:', () => {
  const openAi = (status: number, message: string, code: string | null, type = 'invalid_request_error') =>
    json(status, { error: { message, type, param: null, code } })
  const refusals: readonly (readonly [fake.Behaviour, keyof typeof channelTypes])[] = [
    [fake.status(401), 'chat'],
    [fake.status(403), 'chat'],
    [fake.outOfQuota(), 'chat'],
    [openAi(402, 'Insufficient Balance', 'invalid_request_error', 'unknown_error'), 'chat'],
    [json(402, { error: { message: 'This request requires more credits, or fewer max_tokens.', code: 402 } }), 'chat'],
    [json(401, { error: { message: 'Missing Authentication header', code: 401 } }), 'chat'],
    [
      json(400, { code: 'invalid-argument', error: 'Incorrect API key provided. You can obtain an API key there.' }),
      'chat',
    ],
    [json(403, { code: 30001, message: 'Sorry, your account balance is insufficient', data: null }), 'chat'],
    [openAi(403, 'Your organization must be verified to use the model.', null), 'chat'],
    [openAi(429, 'Your account org-1 is suspended.', null, 'exceeded_current_quota_error'), 'chat'],
    [json(200, { error: { message: 'Invalid API key', type: 'authentication_error', code: 401 } }), 'chat'],
    [json(401, { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } }), 'messages'],
    [json(403, { type: 'error', error: { type: 'permission_error', message: 'Not this model.' } }), 'messages'],
    [json(402, { type: 'error', error: { type: 'billing_error', message: 'Pay first.' } }), 'messages'],
    [
      json(400, {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'Your credit balance is too low to access the Anthropic API.',
        },
      }),
      'messages',
    ],
    [json(403, { error: { code: 403, message: 'Method needs an API Key.', status: 'PERMISSION_DENIED' } }), 'gemini'],
    [
      json(400, {
        error: {
          code: 400,
          message: 'That cannot be.',
          status: 'INVALID_ARGUMENT',
          details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }],
        },
      }),
      'gemini',
    ],
  ]
  test.each(refusals.map(([reply, type]) => [reply.name, type, reply] as const))(
    '%s from %s',
    async (_, type, reply) => {
      await rig.channel({ type: channelTypes[type] })
      rig.upstream.always(reply)
      for (const caller of callers) {
        const { account, seen } = await ask(caller)
        expectUnavailable(caller, seen)
        expect((await chargedUnits(rig, account)).units).toBe(0)
      }
    },
  )

  test('but other channels and keys are tried first', async () => {
    await rig.gateway.setOption('RetryTimes', '1')
    await rig.channel({ key: 'first-key\nsecond-key', key_mode: 'multi', priority: 1 })
    await rig.channel({ key: 'third-key' })
    for (const key of ['first-key', 'second-key']) rig.upstream.forKey(key, json(402, { error: { message: 'Pay.' } }))
    expect((await ask('chat')).seen.status).toBe(200)
    expect(new Set(rig.upstream.requests.map(({ key }) => key))).toEqual(
      new Set(['first-key', 'second-key', 'third-key']),
    )
  })

  test('and in a stream that has begun, an error event reports it', async () => {
    await rig.channel()
    const refused = {
      error: { message: 'Your credit balance is too low', type: 'billing_error', code: 'insufficient_quota' },
    }
    const hello = { choices: [{ index: 0, delta: { content: 'Hel' } }] }
    rig.upstream.next(
      fake.behaviour('a refusal in the middle', async (exchange) => {
        exchange.head(200, [['content-type', 'text/event-stream']])
        await exchange.write(`data: ${JSON.stringify(hello)}\n\ndata: ${JSON.stringify(refused)}\n\n`)
        exchange.end()
      }),
    )
    const { seen } = await ask('chat', { stream: true })
    expect(seen.text).toContain('Hel')
    expect(seen.text).not.toContain('credit')
    expect(seen.error?.code).toBe('upstream_unavailable')
  })
})

describe('errors that concern the caller’s own request are passed on:', () => {
  test.each([
    ['Your chosen model requires moderation and your input was flagged for "violence".'],
    ['Content violates usage guidelines.'],
    ['You do not have permission to access the File abc or it may not exist.'],
  ])('403 %s', async (message) => {
    await rig.channel()
    rig.upstream.always(json(403, { error: { message, code: 403 } }))
    const { seen } = await ask('chat')
    expect(seen.status).toBe(403)
    expect(seen.error?.message).toContain(message)
  })
})

describe('whether a retry can help', () => {
  test('an upstream’s x-should-retry header is passed on', async () => {
    await rig.channel()
    for (const [status, said] of [
      [429, 'false'],
      [500, 'false'],
      [400, 'true'],
      [529, 'true'],
    ] as const) {
      rig.upstream.always(fake.status(status, { headers: [['x-should-retry', said]] }))
      for (const caller of callers) expect((await ask(caller)).seen.headers.get('x-should-retry')).toBe(said)
    }
    rig.upstream.always(fake.status(503))
    expect((await ask('chat')).seen.headers.get('x-should-retry')).toBeNull()
  })

  test('permanent refusals have the header x-should-retry: false in every dialect', async () => {
    await rig.channel()
    const empty = await rig.caller({ user: 1_000, token: 0 }, { token: { status: 4 } })
    const banned = await rig.caller(undefined, { user: { status: 2 } })
    const old = await rig.caller(undefined, { token: { expired_time: 1_000 } })
    for (const caller of callers) {
      for (const token of ['sk-nobody', empty.token, banned.token, old.token]) {
        const { seen } = await ask(caller, { token })
        expect([caller, token, seen.headers.get('x-should-retry')]).toEqual([caller, token, 'false'])
        expect([401, 403]).toContain(seen.status)
        expect(errorDetail(seen.text).message.length).toBeGreaterThan(10)
      }
    }
  })

  test('an invalid call gets x-should-retry: false, but a call for which no channel was found does not', async () => {
    const none = (await ask('chat')).seen
    expect([none.status, none.headers.get('x-should-retry')]).toEqual([503, null])
    const wrong = await see(rig.gateway.post('/v1/chat/completions', { model: 'm' }))
    expect([wrong.status, wrong.headers.get('x-should-retry')]).toEqual([400, 'false'])
  })

  test('Codex, which ignores x-should-retry, gets the only status that it does not retry', async () => {
    await rig.channel()
    const marks: Record<string, string>[] = [
      { originator: 'codex_exec' },
      { 'user-agent': 'codex_cli_rs/0.171.0 (Debian 13)' },
    ]
    for (const headers of marks) {
      const { seen } = await ask('responses', { token: 'sk-nobody', headers: headers })
      expect([seen.status, seen.error?.code]).toEqual([400, 'invalid_token'])
    }
    rig.upstream.always(fake.status(401))
    expect((await ask('responses', { headers: { originator: 'codex_exec' } })).seen.status).toBe(503)
  })

  test('for a stream that fails before it begins, x-should-retry is passed on as for a non-streamed answer', async () => {
    await rig.channel()
    rig.upstream.always(fake.status(429, { headers: [['x-should-retry', 'false']] }))
    const seen = await see(rig.gateway.post('/v1/chat/completions', chatStream))
    expect([seen.status, seen.headers.get('x-should-retry')]).toEqual([429, 'false'])
  })
})
