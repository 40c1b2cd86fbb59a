import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { charged, chat, chatStream, eventsOf, expectError, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ settings: { FirstByteTimeout: '3', StreamIdleTimeout: '3' } })
})
afterAll(() => rig[Symbol.asyncDispose]())

interface Case {
  upstream: fake.Behaviour
  status: number
  /** The gateway's code, or the upstream's own code if the upstream sent an error in OpenAI's format. */
  code: string | number | null
  message?: string
  only?: 'plain' | 'stream'
  headers?: Record<string, string | null>
}

const broken = { status: 502, code: 'do_request_failed' }
const unreadable = { status: 502, code: 'bad_response_body' }
const late = { status: 504, code: 'upstream_timeout' }
const badStatus = { code: 'bad_response_status_code', message: 'bad response status code' }

const cases: readonly Case[] = [
  { upstream: fake.status(400), status: 400, code: null, message: 'Bad request.' },
  { upstream: fake.status(401), status: 503, code: 'upstream_unavailable', message: 'its operator' },
  { upstream: fake.status(403), status: 503, code: 'upstream_unavailable' },
  { upstream: fake.status(404), status: 404, code: 'model_not_found' },
  { upstream: fake.status(429), status: 429, code: 'rate_limit_exceeded', headers: { 'retry-after': null } },
  {
    upstream: fake.status(429, { retryAfter: 7 }),
    status: 429,
    code: 'rate_limit_exceeded',
    headers: { 'retry-after': '7' },
  },
  { upstream: fake.outOfQuota(), status: 503, code: 'upstream_unavailable' },
  { upstream: fake.status(500), status: 500, code: null, message: 'The server had an error' },
  { upstream: fake.status(503, { retryAfter: '1.5' }), status: 503, code: null, headers: { 'retry-after': '2' } },
  { upstream: fake.status(503, { retryAfter: 'soon' }), status: 503, code: null, headers: { 'retry-after': null } },
  { upstream: fake.status(502, { shape: 'html' }), status: 502, ...badStatus },
  { upstream: fake.status(500, { shape: 'text' }), status: 500, ...badStatus },
  { upstream: fake.status(500, { shape: 'empty' }), status: 500, ...badStatus },
  { upstream: fake.status(500, { shape: 'broken' }), status: 500, ...badStatus },
  { upstream: fake.redirects('http://127.0.0.1:1/elsewhere'), status: 502, ...badStatus, headers: { location: null } },
  { upstream: neverEnds(500), status: 500, ...badStatus },
  { upstream: fake.resetsBeforeHeaders(), ...broken },
  { upstream: fake.closesWithoutAnswer(), ...broken },
  { upstream: fake.resetsDuringBody(), ...broken },
  { upstream: fake.garbage(), ...broken },
  { upstream: fake.neverAnswers(), ...late },
  { upstream: fake.neverReadsBody(), ...late },
  { upstream: fake.html200(), ...unreadable },
  { upstream: fake.empty200(), ...unreadable },
  { upstream: fake.brokenJson200(), ...unreadable },
  { upstream: fake.jsonError200('out of order'), status: 502, code: null, message: 'out of order' },
  { upstream: jsonAnswer({ detail: 'no answer' }), ...unreadable, only: 'plain' },
  { upstream: jsonAnswer({ error: { message: 'busy', code: 429 } }), status: 429, code: 429, message: 'busy' },
  { upstream: fake.resetsAfterHeaders(), ...broken },
  { upstream: fake.cutsPlain('fin'), ...broken },
  { upstream: fake.cutsPlain('reset'), ...broken },
  { upstream: neverEnds(200), ...late },
  { upstream: fake.plainToStream(), ...unreadable, only: 'stream' },
  { upstream: fake.resetsAfterHeaders(fake.streamHeaders()), ...unreadable, only: 'stream' },
  { upstream: fake.stallsBeforeFirstEvent(), ...late, only: 'stream' },
  { upstream: fake.endsEarly({ after: 0 }), ...unreadable, only: 'stream' },
  { upstream: fake.cutsInsideEvent('end', { after: 0 }), ...unreadable, only: 'stream' },
  { upstream: fake.badJsonChunk({ after: 0 }), ...unreadable, only: 'stream' },
  {
    upstream: fake.errorEvent({ after: 0, message: 'out of order' }),
    status: 502,
    code: null,
    message: 'out of order',
    only: 'stream',
  },
  {
    upstream: named(
      'an error event behind comments, byte by byte',
      fake.errorEvent({ after: 0, style: { comments: true, cut: 'byte' } }),
    ),
    status: 502,
    code: null,
    only: 'stream',
  },
]

function named(name: string, { run }: fake.Behaviour): fake.Behaviour {
  return fake.behaviour(name, run)
}

function jsonAnswer(body: unknown): fake.Behaviour {
  return fake.behaviour(`status 200 with ${JSON.stringify(body)}`, async (exchange) => {
    exchange.head(200, [['content-type', 'application/json']])
    await exchange.write(JSON.stringify(body))
    exchange.end()
  })
}

function neverEnds(status: number): fake.Behaviour {
  return fake.behaviour(`status ${status} and a body without end`, async (exchange) => {
    exchange.head(status, [['content-type', 'application/json']])
    await exchange.write('{"choices":[')
    exchange.hang()
  })
}

for (const kind of ['plain', 'stream'] as const) {
  describe(`an upstream that fails before the first byte of a ${kind} call costs nothing:`, () => {
    for (const [index, each] of cases.entries()) {
      if (each.only && each.only !== kind) continue
      test(`${index}. ${each.upstream.name} → ${each.status} ${each.code}`, async () => {
        const caller = await rig.caller()
        const before = rig.upstream.requests.length
        rig.upstream.next(each.upstream)
        const body = kind === 'plain' ? chat : chatStream
        const seen = await see(rig.gateway.post('/v1/chat/completions', body, caller.token))
        expectError(seen, each.status, each.code)
        expect(seen.headers.get('content-type')).toStartWith('application/json')
        expect(seen.error?.message).toContain(each.message ?? '')
        for (const [name, value] of Object.entries(each.headers ?? {})) expect(seen.headers.get(name)).toBe(value)
        expect(await charged(rig, caller, 0)).toEqual([])
        expect(rig.upstream.requests.length).toBe(before + 1)
        await rig.upstream.until(({ openStreams }) => openStreams === 0)
      }, 120_000)
    }
  })
}

test('an upstream that refuses connections causes no charge', async () => {
  const port = await fake.closedPort()
  await rig.channel({ base_url: `http://127.0.0.1:${port}`, models: 'm2', key: 'refused-key' })
  const caller = await rig.caller()
  const seen = await see(rig.gateway.post('/v1/chat/completions', { ...chat, model: 'm2' }, caller.token))
  expectError(seen, 502, 'do_request_failed')
  expect(await charged(rig, caller, 0)).toEqual([])
})

test('error responses are counted by code, although they have no log row', async () => {
  const counted = async (code: string) => {
    const metrics = await fetch(`${rig.gateway.url}/metrics`).then((response) => response.text())
    return Number(new RegExp(`^tollgate_error_answers_total\\{code="${code}"\\} (\\d+)`, 'm').exec(metrics)?.[1] ?? 0)
  }
  const caller = await rig.caller()
  const call = (model: string, token: string) =>
    see(rig.gateway.post('/v1/chat/completions', { ...chat, model }, token))
  const before = [await counted('bad_response_status_code'), await counted('invalid_token')]
  rig.upstream.next(fake.status(500))
  await call('m', caller.token)
  await call('m', 'sk-nobody')
  await call('m', 'sk-nobody')
  await call('no-such-model', caller.token)
  expect([await counted('bad_response_status_code'), await counted('invalid_token')]).toEqual([
    Number(before[0]) + 1,
    Number(before[1]) + 2,
  ])
  expect(await counted('no_available_channel')).toBe(1)
  expect(await charged(rig, caller, 0)).toEqual([])
})

test('if a short response stalls in the middle, the gateway disconnects from the upstream, and nothing is charged', async () => {
  // With a long StreamIdleTimeout, the gateway reads a short response in one step.
  await rig.gateway.setOption('StreamIdleTimeout', '60')
  await rig.gateway.setOption('RelayTimeout', '1')
  const caller = await rig.caller()
  rig.upstream.next(
    fake.behaviour('half of a short answer', async (exchange) => {
      exchange.head(200, [['content-type', 'application/json']], { length: 500 })
      await exchange.write(' '.repeat(250))
      exchange.hang()
    }),
  )
  const seen = await see(rig.gateway.post('/v1/chat/completions', chat, caller.token))
  expectError(seen, late.status, late.code)
  await rig.upstream.until(({ openStreams }) => openStreams === 0)
  expect(rig.upstream.last.aborted).toBe(true)
  expect(await charged(rig, caller, 0)).toEqual([])
  await rig.gateway.setOption('RelayTimeout', '0')
  await rig.gateway.setOption('StreamIdleTimeout', '3')
})

test('a slow answer within the limits is not a failure', async () => {
  const caller = await rig.caller()
  rig.upstream.next(fake.late(150, fake.okChat()), fake.trickled(fake.okChat(), { bytes: 40, everyMs: 30 }))
  for (let call = 1; call <= 2; call++) {
    const seen = await see(rig.gateway.post('/v1/chat/completions', chat, caller.token))
    expect(seen.status).toBe(200)
    await charged(rig, caller, 15 * call)
  }
})

test('a slow stream within the limits is not a failure', async () => {
  const caller = await rig.caller()
  rig.upstream.next(fake.okStream({ chunks: 5, delayMs: 120 }))
  const seen = await see(rig.gateway.post('/v1/chat/completions', chatStream, caller.token))
  expect(eventsOf(seen.text).at(-1)).toBe('[DONE]')
  await charged(rig, caller, 15)
})

describe('the log row of a failed call shows admins', () => {
  const rowOf = async (upstream: fake.Behaviour, body: object = chat) => {
    await rig.clear()
    await rig.channel({ type: 8 })
    rig.upstream.always(upstream)
    const caller = await rig.caller()
    await see(rig.gateway.post('/v1/chat/completions', body, caller.token))
    const rows = await eventually(async () => {
      const found = await rig.gateway.context.store.read
        .selectFrom('logs')
        .selectAll()
        .where('token_id', '=', caller.tokenId)
        .execute()
      return found.length > 0 ? found : undefined
    })
    const [row] = rows
    return { row, attempts: JSON.parse(row?.attempts || '[]') as { error: string }[] }
  }
  const eventually = async <T>(ask: () => Promise<T | undefined>): Promise<T> => {
    for (;;) {
      const found = await ask()
      if (found !== undefined) return found
      await Bun.sleep(20)
    }
  }

  test("the text of the upstream's error page", async () => {
    const { row, attempts } = await rowOf(fake.status(500, { shape: 'html' }))
    expect(row?.upstream_message).toContain('<html>')
    expect(attempts.at(-1)?.error).toContain('<html>')
  })

  test('the target of a redirect', async () => {
    const { row } = await rowOf(fake.redirects('http://127.0.0.1:1/elsewhere'))
    expect(row?.upstream_message).toBe('redirected to http://127.0.0.1:1/elsewhere')
  })

  test('the network error', async () => {
    const { row, attempts } = await rowOf(fake.resetsBeforeHeaders())
    expect(attempts.at(-1)?.error).toMatch(/^the request to the upstream failed: .+/)
    expect(row?.content).toBe('the request to the upstream failed')
  })

  test('what the upstream reported about the operator’s account in the middle of a stream', async () => {
    const chunk = { id: 'c', choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: null }] }
    const error = {
      error: { message: 'Incorrect API key provided', type: 'invalid_request_error', code: 'invalid_api_key' },
    }
    const { row, attempts } = await rowOf(
      fake.behaviour('fails in the middle', async (exchange) => {
        exchange.head(200, [['content-type', 'text/event-stream']])
        for (const each of [chunk, error]) await exchange.write(`data: ${JSON.stringify(each)}\n\n`)
        exchange.end()
      }),
      { ...chat, stream: true },
    )
    expect(row?.outcome).toBe('interrupted')
    expect(attempts.at(-1)?.error).toBe('Incorrect API key provided')
  })
})
