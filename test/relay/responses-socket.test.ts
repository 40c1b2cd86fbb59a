// The WebSocket mode of the Responses API: each turn is a call of its own.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../server/lib/json.ts'
import { endlessStream, okStream, stallsStream, status } from '../helpers/fake-upstream.ts'
import { openSession, type RealtimeCaller, refusedSession } from '../helpers/realtime-upstream.ts'
import { startChildGateway } from './child-gateway.ts'
import { type Caller, charged, chargedUnits, type Rig, startRelayRig, until } from './setup.ts'

let rig: Rig
let nowMs = Date.now()
beforeAll(async () => {
  rig = await startRelayRig({ channels: false, clock: { nowMs: () => nowMs } })
})
afterAll(() => rig[Symbol.asyncDispose]())
afterEach(() => rig.clear({ RetryTimes: '0', ResponsesSocketLimit: '64' }))

const path = '/v1/responses'
const open = (token: string, headers?: Record<string, string>) =>
  openSession(rig.gateway.url, token, '', { path, ...(headers && { headers }) })
const say = (content: string) => [{ role: 'user', content }]
const create = (socket: RealtimeCaller, fields: object = {}) =>
  socket.send({ type: 'response.create', model: 'm', input: say('Hi'), ...fields })
const completed = async (socket: RealtimeCaller, index = 0) =>
  (await socket.event('response.completed', index))['response'] as JsonObject & { id: string }
const failed = async (socket: RealtimeCaller, index = 0) =>
  (await socket.event('error', index)) as { status: number; error: { code: string; message: string; param: string } }
const sent = (index = 0) => rig.upstream.requests[index]?.fields as unknown as { messages: JsonObject[] }

/** A gateway with one channel that uses the chat dialect, and a caller with an open socket. */
async function opened(): Promise<{ caller: Caller; socket: RealtimeCaller }> {
  await rig.channel({ type: 8 })
  const caller = await rig.caller()
  return { caller, socket: await open(caller.token) }
}

/** Lets time pass for the gateway, and waits until a socket is closed. */
async function closedAfter(socket: RealtimeCaller, ms: number): Promise<{ code: number; reason: string }> {
  nowMs += ms
  return await socket.closed
}

describe('a turn', () => {
  test('is a call of its own, whose events arrive as messages', async () => {
    const { caller, socket } = await opened()
    rig.upstream.next(okStream({ text: 'Hello there' }), okStream({ text: 'Again' }))
    create(socket)
    const first = await completed(socket)
    expect(first).toMatchObject({
      object: 'response',
      status: 'completed',
      output: [{ content: [{ text: 'Hello there' }] }],
    })
    expect(JSON.parse(String(socket.got[0]))).toMatchObject({ type: 'response.created', sequence_number: 0 })
    expect(rig.upstream.requests[0]?.fields).toMatchObject({ model: 'm', stream: true })
    create(socket)
    await completed(socket, 1)
    const { rows } = await chargedUnits(rig, caller)
    expect(rows.map((row) => [Number(row.is_stream), row.outcome, row.quota > 0])).toEqual([
      [1, 'complete', true],
      [1, 'complete', true],
    ])
    expect(new Set(rows.map((row) => row.request_id)).size).toBe(2)
    socket.socket.close()
  })

  test('continues from the last response of its socket with only the new items', async () => {
    const { socket } = await opened()
    rig.upstream.next(...['Bern', 'Rome', 'Paris'].map((text) => okStream({ text, extra: { id: `chatcmpl-${text}` } })))
    create(socket, { input: 'Capital of Switzerland?' })
    const first = await completed(socket)
    create(socket, { input: say('Of Italy?'), previous_response_id: first.id, store: false })
    const second = await completed(socket, 1)
    expect(sent(1).messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'Capital of Switzerland?'],
      ['assistant', 'Bern'],
      ['user', 'Of Italy?'],
    ])
    create(socket, { input: say('Of France?'), previous_response_id: second.id })
    await completed(socket, 2)
    expect(sent(2).messages).toHaveLength(5)
    // Only the last response can be continued, as in OpenAI's own service.
    create(socket, { input: say('And?'), previous_response_id: first.id })
    expect(await failed(socket)).toMatchObject({ status: 400, error: { param: 'previous_response_id' } })
    expect(rig.upstream.requests).toHaveLength(3)
    socket.socket.close()
  })

  test('does not see the responses of another socket, even of the same token', async () => {
    const { caller, socket } = await opened()
    rig.upstream.next(okStream({ text: 'secret' }))
    create(socket)
    const { id } = await completed(socket)
    const other = await open(caller.token)
    create(other, { previous_response_id: id })
    expect((await failed(other)).error.param).toBe('previous_response_id')
    for (const each of [socket, other]) each.socket.close()
  })

  test('can be created with `generate: false`, and then is neither generated nor charged', async () => {
    const { caller, socket } = await opened()
    create(socket, { input: say('Be brief.'), generate: false })
    const warm = await completed(socket)
    expect(warm).toMatchObject({ output: [], usage: { total_tokens: 0 } })
    expect(rig.upstream.requests).toEqual([])
    rig.upstream.next(okStream())
    create(socket, { input: say('Hi'), previous_response_id: warm.id })
    await completed(socket, 1)
    expect(sent().messages.map(({ content }) => content)).toEqual(['Be brief.\n\nHi'])
    expect((await chargedUnits(rig, caller)).rows).toHaveLength(1)
    socket.socket.close()
  })

  test('that fails gives an error with the status of a POST, and the socket stays open', async () => {
    const { caller, socket } = await opened()
    rig.upstream.next(status(400, { message: 'no such tool' }))
    create(socket)
    expect(await failed(socket)).toMatchObject({
      type: 'error',
      status: 400,
      error: { message: expect.stringContaining('no such tool') },
    })
    create(socket, { model: 'unknown' })
    expect((await failed(socket, 1)).status).toBe(503)
    create(socket, { background: true })
    expect((await failed(socket, 2)).error.param).toBe('background')
    await charged(rig, caller, 0)
    rig.upstream.next(okStream())
    create(socket)
    await completed(socket)
    socket.socket.close()
    await chargedUnits(rig, caller)
  })

  test('is refused while another one is in progress', async () => {
    const { caller, socket } = await opened()
    rig.upstream.next(stallsStream())
    create(socket)
    await socket.event('response.output_text.delta')
    create(socket)
    expect((await failed(socket)).error.message).toContain('in progress')
    expect(rig.upstream.requests).toHaveLength(1)
    socket.socket.close()
    const { rows } = await chargedUnits(rig, caller)
    expect(rows.map((row) => row.outcome)).toEqual(['aborted'])
  })

  test('is charged for what was generated if the caller disconnects or is cut off', async () => {
    const { caller, socket } = await opened()
    rig.upstream.next(endlessStream())
    create(socket)
    await socket.event('response.output_text.delta', 5)
    socket.socket.terminate()
    const { units, rows } = await chargedUnits(rig, caller)
    expect([rows[0]?.outcome, units > 5]).toEqual(['aborted', true])
    await until(() => rig.upstream.openStreams === 0)
  })

  test('ends with an error when the quota runs out, and is charged exactly the remaining quota', async () => {
    await rig.channel({ type: 8 })
    const caller = await rig.caller({ user: 100, token: 100 })
    await rig.gateway.setOption('PreConsumedQuota', '20')
    const socket = await open(caller.token)
    rig.upstream.next(endlessStream())
    create(socket)
    expect((await failed(socket)).error.code).toBe('quota_exhausted_mid_stream')
    await chargedUnits(rig, caller, 100)
    await rig.gateway.setOption('PreConsumedQuota', '500')
    socket.socket.close()
  })

  test('is refused once its user has been banned', async () => {
    const { caller, socket } = await opened()
    rig.upstream.next(okStream())
    create(socket)
    await completed(socket)
    await until(async () => (await rig.gateway.balances(caller.userId, caller.tokenId)).holds === 0)
    await rig.gateway
      .api('PUT', '/api/token/?status_only=true', { id: caller.tokenId, status: 2 })
      .catch(() => undefined)
    await rig.gateway.context.store.write((trx) =>
      trx.updateTable('tokens').set({ status: 2 }).where('id', '=', caller.tokenId).execute(),
    )
    nowMs += 31_000
    socket.socket.close()
    await socket.closed
    await expect(open(caller.token)).rejects.toThrow('refused')
  })
})

describe('a socket', () => {
  test('is closed if no request arrives within 30 seconds, or for 300 seconds between turns', async () => {
    const { caller, socket } = await opened()
    expect(await closedAfter(socket, 30_000)).toMatchObject({ code: 1001 })
    const second = await open(caller.token)
    rig.upstream.next(okStream())
    create(second)
    await completed(second)
    await until(async () => (await rig.gateway.balances(caller.userId, caller.tokenId)).holds === 0)
    nowMs += 299_000
    rig.upstream.next(okStream())
    create(second)
    await completed(second, 1)
    expect(await closedAfter(second, 300_500)).toMatchObject({ code: 1001 })
  })

  test('counts against the limit of its token until it is closed', async () => {
    await rig.channel({ type: 8 })
    await rig.gateway.setOption('ResponsesSocketLimit', '2')
    const [caller, other] = [await rig.caller(), await rig.caller()]
    const sockets = [await open(caller.token), await open(caller.token)]
    const refused = () => refusedSession(rig.gateway.url, '', caller.token, {}, path)
    expect(await refused()).toMatchObject({ status: 429, code: 'rate_limit_exceeded' })
    ;(await open(other.token)).socket.close()
    sockets[0]?.socket.close()
    await sockets[0]?.closed
    let again: RealtimeCaller | undefined
    await until(async () => {
      again = await open(caller.token).catch(() => undefined)
      return again !== undefined
    })
    for (const each of [again, sockets[1]]) each?.socket.close()
  })

  test('answers invalid messages with errors, and is closed if it gets only invalid messages', async () => {
    const { caller, socket } = await opened()
    for (const each of ['{', '[]', 'null', '{"type":"session.update"}', '"response.create"']) socket.send(each)
    socket.socket.send(new Uint8Array([1, 2, 3]))
    expect((await failed(socket, 5)).error.message).toBe('messages must be text')
    // A message that begins like a turn gets the same error as the body of a POST.
    socket.send('{"type":"response.create","model":"m","input":')
    expect(await failed(socket, 6)).toMatchObject({ status: 400, error: { code: 'invalid_json' } })
    for (let n = 0; n < 20; n++) socket.send('nonsense')
    expect(await socket.closed).toMatchObject({ code: 1008 })
    await charged(rig, caller, 0)
  })

  test('is closed by a message that exceeds all limits, and no call is made', async () => {
    const { caller, socket } = await opened()
    create(socket, { input: 'x'.repeat(17 * 1024 * 1024) })
    expect((await socket.closed).code).not.toBe(1000)
    await charged(rig, caller, 0)
    expect(rig.upstream.requests).toEqual([])
  })

  test('ignores messages that report that a response has been stored', async () => {
    const { socket } = await opened()
    rig.upstream.next(okStream())
    create(socket)
    const { id } = await completed(socket)
    socket.send({ type: 'response.processed', response_id: id })
    rig.upstream.next(okStream())
    create(socket, { previous_response_id: id })
    await completed(socket, 1)
    socket.socket.close()
  })

  test('can be opened by a browser, with the key as a subprotocol', async () => {
    await rig.channel({ type: 8 })
    const caller = await rig.caller()
    const socket = await openSession(rig.gateway.url, '', '', {
      path,
      protocols: ['realtime', `openai-insecure-api-key.${caller.token}`],
    })
    rig.upstream.next(okStream())
    create(socket)
    await completed(socket)
    socket.socket.close()
    await chargedUnits(rig, caller)
  })

  test('needs a token, and a request that asks for a WebSocket', async () => {
    expect(await refusedSession(rig.gateway.url, '', 'sk-wrong', {}, path)).toMatchObject({ status: 401 })
    const plain = await fetch(rig.gateway.url + path, { headers: { authorization: `Bearer ${rig.gateway.token}` } })
    expect([plain.status, plain.headers.get('upgrade')]).toEqual([426, 'websocket'])
    await plain.body?.cancel()
  })
})

test('when the server stops, a turn is charged before its socket is closed', async () => {
  await using gateway = await startChildGateway({ env: { DRAIN_TIMEOUT: '1' } })
  await gateway.api('PUT', '/api/option/', { key: 'ModelRatio', value: '{"m":1}' })
  const fields = { type: 8, name: 'c', key: 'k', models: 'm', group: 'default', base_url: rig.upstream.url }
  await gateway.api('POST', '/api/channel/', fields)
  const [busy, idle] = [
    await openSession(gateway.url, gateway.token, '', { path }),
    await openSession(gateway.url, gateway.token, '', { path }),
  ]
  rig.upstream.next(endlessStream())
  create(busy)
  await busy.event('response.output_text.delta', 3)
  process.kill(gateway.pid, 'SIGTERM')
  expect((await idle.closed).code).toBe(1001)
  expect((await failed(busy)).error.code).toBe('shutting_down')
  expect((await busy.closed).code).toBe(1001)
})
