// Responses and conversations that a service stores: only the user who created them has access, and each call goes to
// the channel that stores them.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../server/lib/json.ts'
import { sendJson } from '../helpers/fake-upstream/reply.ts'
import { behaviour, type FakeUpstream, startFakeUpstream, status } from '../helpers/fake-upstream.ts'
import { type Caller, chargedUnits, expectError, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig
let second: FakeUpstream
let made = 0
beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
  second = await startFakeUpstream()
})
afterAll(async () => {
  await second.close()
  await rig[Symbol.asyncDispose]()
})
beforeEach(async () => {
  second.clear()
  await rig.clear({ RetryTimes: '0' })
})

const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }
const output = [
  { id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.', annotations: [] }] },
]
const responds = (id: string) =>
  behaviour('responds', (exchange) => {
    const response = { id, object: 'response', status: 'completed', model: 'm', output, usage }
    if (exchange.request.fields['stream'] !== true) return sendJson(exchange, 200, response)
    exchange.head(200, [['content-type', 'text/event-stream']])
    const events: JsonObject[] = [
      { type: 'response.created', sequence_number: 0, response: { ...response, status: 'in_progress', output: [] } },
      { type: 'response.completed', sequence_number: 1, response },
    ]
    return exchange
      .write(events.map((each) => `event: ${each['type']}\ndata: ${JSON.stringify(each)}\n\n`).join(''))
      .then(() => exchange.end())
  })
const gives = (body: JsonObject) => behaviour('gives', (exchange) => sendJson(exchange, 200, body))

const create = (caller: Caller, fields: object = {}) =>
  see(rig.gateway.post('/v1/responses', { model: 'm', input: 'Hi', ...fields }, caller.token))
const call = (method: string, path: string, { token }: Pick<Caller, 'token'>, body?: object) =>
  see(
    fetch(rig.gateway.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    }),
  )

/** Two equal channels with upstreams of their own, and a response that the second one stores. */
async function storedAtSecond(fields: object = {}): Promise<{ caller: Caller; id: string }> {
  await rig.channel({ priority: 0 })
  await rig.channel({ base_url: second.url, key: 'second-key', priority: 1 })
  const caller = await rig.caller()
  const id = `resp_${++made}`
  second.next(responds(id))
  expect((await create(caller, fields)).status).toBe(200)
  second.clear()
  return { caller, id }
}

describe('a stored response', () => {
  test.each([{}, { stream: true }])('is continued at the channel that stores it: %j', async (fields) => {
    const { caller, id } = await storedAtSecond(fields)
    second.next(responds('resp_next'))
    expect((await create(caller, { previous_response_id: id })).status).toBe(200)
    expect(second.requests[0]?.fields['previous_response_id']).toBe(id)
    expect(rig.upstream.requests).toEqual([])
    await chargedUnits(rig, caller)
  })

  test.each([
    ['GET', '', '?include[]=reasoning.encrypted_content&secret=1'],
    ['GET', '/input_items', '?limit=5&order=asc'],
    ['POST', '/cancel', ''],
    ['DELETE', '', ''],
  ] as const)('%s %s reaches the channel that stores it, and costs nothing', async (method, rest, query) => {
    const { caller, id } = await storedAtSecond()
    const before = await chargedUnits(rig, caller)
    second.next(gives({ id, object: 'response', note: 'second-key' }))
    const seen = await call(method, `/v1/responses/${id}${rest}${query}`, caller)
    expect(seen.status).toBe(200)
    expect(seen.text).not.toContain('second-key')
    const [request] = second.requests
    expect([request?.method, request?.path]).toEqual([method, `/v1/responses/${id}${rest}`])
    expect(request?.headers.get('authorization')).toBe('Bearer second-key')
    expect(JSON.stringify(request?.query ?? {})).not.toContain('secret')
    expect((await chargedUnits(rig, caller)).units).toBe(before.units)
    if (method !== 'DELETE') return
    expectError(await call('GET', `/v1/responses/${id}`, caller), 404, 'response_not_found')
    expect(second.requests).toHaveLength(1)
  })

  test('is found by every process once its channel has been written to the database', async () => {
    const { caller, id } = await storedAtSecond()
    await rig.gateway.context.relay.relay.responseOwners.write()
    const rows = await rig.gateway.context.store.read
      .selectFrom('stored_responses')
      .selectAll()
      .where('id', '=', id)
      .execute()
    expect(rows).toMatchObject([{ user_id: caller.userId, model: 'm', key_hash: '' }])
    second.next(gives({ id }))
    expect((await call('GET', `/v1/responses/${id}`, caller)).status).toBe(200)
  })

  test('has no entry in the gateway’s table of stored responses if the service does not store it', async () => {
    const { caller, id } = await storedAtSecond({ store: false })
    expectError(await call('GET', `/v1/responses/${id}`, caller), 404, 'response_not_found')
    expect(second.requests).toEqual([])
  })

  test('the caller gets the service’s errors, except those about the operator’s account', async () => {
    const { caller, id } = await storedAtSecond()
    second.next(status(404, { message: 'Response not found.' }), status(401, { message: 'Incorrect API key' }))
    expect((await call('GET', `/v1/responses/${id}`, caller)).status).toBe(404)
    const seen = await call('GET', `/v1/responses/${id}`, caller)
    expectError(seen, 503, 'upstream_unavailable')
    expect(seen.text).not.toContain('Incorrect')
  })
})

describe('another user', () => {
  test.each([false, true])('cannot access the response by its id (written to the database: %p)', async (isWritten) => {
    const { id } = await storedAtSecond()
    if (isWritten) await rig.gateway.context.relay.relay.responseOwners.write()
    const thief = await rig.caller()
    for (const [method, rest] of [
      ['GET', ''],
      ['GET', '/input_items'],
      ['DELETE', ''],
      ['POST', '/cancel'],
    ] as const)
      expectError(await call(method, `/v1/responses/${id}${rest}`, thief), 404, 'response_not_found')
    for (const fields of [{ previous_response_id: id }, { conversation: id }, { conversation: { id } }])
      expectError(await create(thief, fields), 404, 'response_not_found')
    expect([second.requests, rig.upstream.requests]).toEqual([[], []])
    expect((await chargedUnits(rig, thief)).units).toBe(0)
  })

  test('cannot access the response, even if only one channel could have created it', async () => {
    await rig.channel()
    const [owner, thief] = [await rig.caller(), await rig.caller()]
    rig.upstream.next(responds('resp_alone'))
    await create(owner)
    expectError(await create(thief, { previous_response_id: 'resp_alone' }), 404, 'response_not_found')
    expect(rig.upstream.requests).toHaveLength(1)
  })
})

describe('a conversation', () => {
  test('is created, used and deleted at one channel, by its user alone', async () => {
    await rig.channel({ type: 8, priority: 5 })
    await rig.channel({ base_url: second.url, priority: 1 })
    const [caller, thief] = [await rig.caller(), await rig.caller()]
    const id = `conv_${++made}`
    second.next(
      gives({ id, object: 'conversation' }),
      gives({ data: [] }),
      responds('resp_in'),
      gives({ id, deleted: true }),
    )
    expect(JSON.parse((await call('POST', '/v1/conversations', caller, { items: [] })).text)).toMatchObject({ id })
    expect((await call('POST', `/v1/conversations/${id}/items`, caller, { items: [] })).status).toBe(200)
    expectError(await call('GET', `/v1/conversations/${id}/items/msg_1`, thief), 404, 'response_not_found')
    expect((await create(caller, { conversation: id })).status).toBe(200)
    expect((await call('DELETE', `/v1/conversations/${id}`, caller)).status).toBe(200)
    expect(second.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/conversations',
      `POST /v1/conversations/${id}/items`,
      'POST /v1/responses',
      `DELETE /v1/conversations/${id}`,
    ])
    expect(rig.upstream.requests).toEqual([])
  })

  test('needs a channel that stores conversations', async () => {
    await rig.channel({ type: 8 })
    expectError(await call('POST', '/v1/conversations', await rig.caller(), {}), 400, 'mode_not_supported')
  })
})

test('a call with an invalid id is sent to no service', async () => {
  const { caller } = await storedAtSecond()
  for (const id of ['..%2f..%2fmodels', 'a%20b', 'x'.repeat(300), '%00', 'resp_1%3fx=1']) {
    const seen = await call('GET', `/v1/responses/${id}`, caller)
    expect([400, 404, 501]).toContain(seen.status)
  }
  expect([second.requests, rig.upstream.requests]).toEqual([[], []])
})
