// Failed calls leave a row of type 6, so that the request id in their response can be found. A flood of failures leaves
// only a few rows.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { Log } from '../../contract/api/log.ts'
import { logType } from '../../contract/log-types.ts'
import { balanceFaults } from '../../server/store/ledger/balance-check.ts'
import { rollUpUsage } from '../../server/store/usage/usage-rollup.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { startTestGateway, type TestGateway } from '../helpers/test-gateway.ts'
import { chat, chatStream, type Rig, startRelayRig, until } from '../relay/setup.ts'

const path = '/v1/chat/completions'
/** Raises the rate limit, because the tests request the list repeatedly until the rows are there. */
const manyCalls = { GLOBAL_API_RATE_LIMIT: '1000000' }
const requestIdOf = (response: Response) => response.headers.get('x-oneapi-request-id') ?? ''

forEachDatabaseUrl((kind, freshUrl) => {
  let rig: Rig
  let database: { databaseUrl?: string }
  /** The gateway's clock. */
  let nowMs = Date.UTC(2026, 0, 5, 12, 0, 1)

  beforeAll(async () => {
    // Without a URL, a gateway creates its own SQLite file.
    database = kind === 'postgres' ? { databaseUrl: await freshUrl() } : {}
    rig = await startRelayRig({ ...database, clock: { nowMs: () => nowMs }, channels: false, env: manyCalls })
  })
  beforeEach(async () => {
    nowMs += 3_600_000
    await rig.clear({ RetryTimes: '0', LogErrorsEnabled: 'true' })
  })
  afterAll(() => rig[Symbol.asyncDispose]())

  /** The rows found for a request, as soon as there are any. */
  async function found(response: Response): Promise<Log[]> {
    let rows: Log[] = []
    await until(async () => {
      rows = await rig.gateway.api<Log[]>('GET', `/api/log/search?keyword=${requestIdOf(response)}`)
      return rows.length > 0
    })
    return rows
  }
  /**
   * The request's own row. Before that row is written, a search for the request's id finds a row that represents
   * several failed calls of the same time.
   */
  async function ownRow(response: Response): Promise<Log | undefined> {
    let own: Log | undefined
    await until(async () => {
      own = (await found(response)).find(({ request_id }) => request_id === requestIdOf(response))
      return own !== undefined
    })
    return own
  }
  const errorRows = () =>
    rig.gateway.context.store.read.selectFrom('logs').selectAll().where('type', '=', logType.error).execute()

  test('searching for a failed call’s request id finds the caller, the models, the channel and the upstream’s message', async () => {
    const channel = await rig.channel({ model_mapping: '{"m":"m2"}' })
    rig.upstream.always(fake.status(400, { message: 'your prompt is odd' }))
    const caller = await rig.caller()
    const response = await rig.gateway.post(path, chat, caller.token)
    expect(response.status).toBe(400)
    const [row, ...others] = await found(response)
    expect(others).toEqual([])
    expect(row).toMatchObject({
      type: 6,
      user_id: caller.userId,
      token_id: caller.tokenId,
      token_name: 'test',
      model_name: 'm2',
      asked_model: 'm',
      channel,
      endpoint: path,
      status: 400,
      code: 'bad_response_status_code',
      content: 'the upstream responded with status 400',
      upstream_message: 'your prompt is odd',
      request_id: requestIdOf(response),
      outcome: 'failed',
      quota: 0,
      prompt_tokens: 0,
      completion_tokens: 0,
      left_out: 0,
    })
    expect(JSON.parse(row?.attempts ?? '')).toMatchObject([{ channelId: channel, status: 400 }])
  })

  test('what an upstream reports about the operator’s account is shown to admins, and the caller gets another message', async () => {
    await rig.channel()
    rig.upstream.always(fake.status(401, { message: 'Incorrect API key provided.' }))
    const response = await rig.gateway.post(path, chat)
    expect(response.status).toBe(503)
    const [row] = await found(response)
    expect(row).toMatchObject({
      status: 503,
      code: 'upstream_unavailable',
      upstream_message: 'Incorrect API key provided.',
    })
    expect(row?.content).not.toContain('key')
    expect(JSON.parse(row?.attempts ?? '')).toMatchObject([{ status: 401, error: 'Incorrect API key provided.' }])
  })

  test('the caller of a failed call sees the code and our own message, and nothing about channels or upstreams', async () => {
    await rig.channel()
    rig.upstream.always(fake.status(400, { message: 'your prompt is odd' }))
    const response = await rig.gateway.post(path, chat)
    await found(response)
    const data = await rig.gateway.api<Log[]>('GET', `/api/log/self/search?keyword=${requestIdOf(response)}`)
    expect(data[0]).toMatchObject({
      code: 'bad_response_status_code',
      status: 400,
      content: 'the upstream responded with status 400',
      channel: 0,
      attempts: '',
      upstream_message: '',
    })
    expect(JSON.stringify(data)).not.toContain('odd')
  })

  const callersFaults: readonly [string, string, unknown, object][] = [
    ['a body that is not JSON', path, '{', { code: 'invalid_json', status: 400, model_name: '' }],
    ['a missing field', path, { model: 'm' }, { code: 'required_field_missing', status: 400, model_name: 'm' }],
    [
      'a model that no channel serves',
      path,
      { ...chat, model: 'nope' },
      { status: 503, model_name: 'nope', channel: 0 },
    ],
    [
      'an invalid field of the Messages API',
      '/v1/messages',
      { model: 'm', messages: 1 },
      { status: 400, endpoint: '/v1/messages' },
    ],
    [
      'an invalid body for a model named in the path',
      '/v1beta/models/m:generateContent?alt=json',
      {},
      { status: 400, model_name: 'm', endpoint: '/v1beta/models/m:generateContent' },
    ],
    ['a call to an endpoint that is not served', '/v1/fine-tunes', {}, { code: 'api_not_implemented', status: 501 }],
  ]
  for (const [what, address, body, row] of callersFaults)
    test(`a call that fails because of the caller’s mistake leaves a row: ${what}`, async () => {
      await rig.channel()
      const response = await rig.gateway.post(address, body)
      expect((await found(response))[0]).toMatchObject({ type: 6, request_id: requestIdOf(response), ...row })
    })

  const refusals = [
    ['expired', { expired_time: 1 }, 'token_expired'],
    ['disabled', { status: 2 }, 'token_unavailable'],
    ['bound to another network', { subnet: '203.0.113.0/24' }, 'ip_not_allowed'],
    ['not allowed to use the model', { models: 'other' }, 'model_not_allowed'],
  ] as const
  for (const [what, token, code] of refusals)
    test(`a call with a token that is ${what} leaves a row with the token’s name`, async () => {
      await rig.channel()
      const caller = await rig.caller(undefined, { token })
      const response = await rig.gateway.post(path, chat, caller.token)
      expect((await found(response))[0]).toMatchObject({ type: 6, code, token_id: caller.tokenId, token_name: 'test' })
    })

  test('a call with an unknown key leaves no row and is only counted', async () => {
    const before = (await errorRows()).length
    const response = await rig.gateway.post(path, chat, 'sk-nobody')
    expect(response.status).toBe(401)
    const known = await rig.gateway.post(path, '{')
    await found(known)
    expect((await errorRows()).length).toBe(before + 1)
  })

  test('a call that succeeded on another channel leaves no row of type 6', async () => {
    await rig.channel({ key: 'bad', priority: 1 })
    await rig.channel({ key: 'good' })
    await rig.gateway.setOption('RetryTimes', '1')
    rig.upstream.forKey('bad', fake.status(500))
    rig.upstream.forKey('good', fake.ok())
    const response = await rig.gateway.post(path, chat)
    await response.text()
    expect((await found(response)).map(({ type }) => type)).toEqual([2])
  })

  test('no row is written if LogErrorsEnabled is off', async () => {
    await rig.gateway.setOption('LogErrorsEnabled', 'false')
    const before = (await errorRows()).length
    await rig.gateway.post(path, '{')
    await rig.gateway.setOption('LogErrorsEnabled', 'true')
    await found(await rig.gateway.post(path, '{'))
    expect((await errorRows()).length).toBe(before + 1)
  })

  test('upstream messages take up at most 4 KB of a row, whether the call failed or another channel served it', async () => {
    await rig.channel({ key: 'bad', priority: 1 })
    await rig.channel({ key: 'good' })
    await rig.gateway.setOption('RetryTimes', '1')
    const image = `no such image: ${'é"\\'.repeat(10_000)}`
    rig.upstream.forKey('bad', fake.status(500, { message: image }))
    rig.upstream.forKey('good', fake.status(500, { message: image }))
    const [failed] = await found(await rig.gateway.post(path, chat))
    expect(Buffer.byteLength(failed?.attempts ?? '')).toBeLessThanOrEqual(4096)
    expect(JSON.parse(failed?.attempts ?? '')).toHaveLength(2)
    expect(failed?.upstream_message.length).toBeLessThanOrEqual(500)
    expect(failed?.upstream_message).toStartWith('no such image: ')
    rig.upstream.forKey('good', fake.ok())
    const response = await rig.gateway.post(path, chat)
    await response.text()
    const [rescued] = await found(response)
    expect(rescued?.type).toBe(2)
    expect(Buffer.byteLength(rescued?.attempts ?? '')).toBeLessThanOrEqual(4096)
    expect(JSON.parse(rescued?.attempts ?? '')).toMatchObject([{ status: 500 }, { status: 200, error: '' }])
  })

  test('a model name that cannot be stored, in a call to a chosen channel, is truncated and cleaned, and other rows are still written', async () => {
    const channel = await rig.channel()
    const odd = `x\0${'y'.repeat(230)}`
    const response = await rig.gateway.post(path, { ...chat, model: odd }, `${rig.gateway.token}-${channel}`)
    expect(response.status).toBeGreaterThanOrEqual(400)
    const other = await rig.gateway.post(path, '{')
    const rows = [...(await found(response)), ...(await found(other))]
    expect(rows.map(({ request_id }) => request_id)).toEqual([response, other].map(requestIdOf))
    // If no channel serves the requested model, `model_name` is empty and `asked_model` contains the requested name.
    const [stored] = (await errorRows()).filter(({ request_id }) => request_id === requestIdOf(response))
    expect(stored).toMatchObject({ model_name: '', channel_id: channel })
    expect(stored?.asked_model).toStartWith('xyyy')
    expect(stored?.asked_model.length).toBeLessThanOrEqual(200)
  })

  test('the row of a charged call shows the requested model if another model was used', async () => {
    await rig.channel({ model_mapping: '{"m":"m2"}' })
    rig.upstream.always(fake.ok())
    for (const body of [chat, chatStream]) {
      const response = await rig.gateway.post(path, body)
      await response.text()
      expect((await found(response))[0]).toMatchObject({ type: 2, model_name: 'm2', asked_model: 'm' })
    }
    await rig.clear()
    await rig.channel()
    const same = await rig.gateway.post(path, chat)
    await same.text()
    expect((await found(same))[0]).toMatchObject({ model_name: 'm', asked_model: '' })
  })

  test('a flood of failures writes a hundred rows a minute for each token and code, across all nodes, and then one row a second', async () => {
    const caller = await rig.caller()
    // A SQLite file can be used by only one process.
    await using other =
      kind === 'postgres' ? await startTestGateway({ ...database, clock: { nowMs: () => nowMs } }) : undefined
    const second: TestGateway = other ?? rig.gateway
    const nodes = [rig.gateway, second]
    nowMs = Math.floor(nowMs / 60_000) * 60_000 + 1_000
    const fail = async (count: number) => {
      const answers: Response[] = []
      for (let at = 0; at < count; at++) answers.push(await (nodes[at % 2] ?? second).post(path, '{', caller.token))
      return answers
    }
    const rows = async () => (await errorRows()).filter(({ token_id }) => token_id === caller.tokenId)
    const counted = async () => (await rows()).reduce((sum, { left_out }) => sum + 1 + left_out, 0)
    const answers = await fail(260)
    await until(async () => (await counted()) > 100)
    const [fromMs, sinceMs] = [nowMs, performance.now()]
    await until(async () => {
      // A node writes a row only in a second in which no other node has written one, so the clock is moved on. It must
      // not reach the next minute, in which the limit starts again.
      nowMs = fromMs + Math.min(57_000, performance.now() - sinceMs)
      return (await counted()) === 260
    })
    const written = await rows()
    expect(written.length).toBeGreaterThan(100)
    expect(written.length).toBeLessThanOrEqual(105)
    const last = answers.at(-1) as Response
    const [stands] = await found(last)
    expect(stands?.request_id).not.toBe(requestIdOf(last))
    expect(stands?.left_out).toBeGreaterThan(0)
    expect(stands?.content).toContain('omitted from the log')

    // Another code of the same token has its own limit, and the limit starts again in the next minute.
    const missing = await rig.gateway.post(path, { model: 'm' }, caller.token)
    expect(await ownRow(missing)).toMatchObject({ code: 'required_field_missing', left_out: 0 })
    nowMs += 60_000
    const next = await second.post(path, '{', caller.token)
    expect(await ownRow(next)).toMatchObject({ code: 'invalid_json', left_out: 0 })
  }, 120_000)

  test('rows of failed calls cost nothing: quota, usage and the ledger stay unchanged, and the totals count one more failure', async () => {
    await rig.channel()
    rig.upstream.always(fake.ok())
    await (await rig.gateway.post(path, chat)).text()
    const stat = () => rig.gateway.api<{ calls: number; failed: number }>('GET', '/api/log/stat')
    const usage = () => rig.gateway.api<{ total: object }>('GET', '/api/usage/').then(({ total }) => total)
    const [totals, used] = [await stat(), await usage()]
    await found(await rig.gateway.post(path, '{'))
    const after = [{ ...totals, calls: totals.calls + 1, failed: totals.failed + 1 }, used]
    expect([await stat(), await usage()]).toEqual(after)
    const { store } = rig.gateway.context
    await rollUpUsage(store, Math.floor(nowMs / 1000))
    expect([await stat(), await usage()]).toEqual(after)
    expect((await balanceFaults(store)).faults).toEqual([])
    const { types } = await rig.gateway.api<{ types: { type: number }[] }>('GET', '/api/log/histogram')
    expect(types.map(({ type }) => type)).toContain(6)
  })
})
