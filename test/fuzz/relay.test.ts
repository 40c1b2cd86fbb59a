// Sends invalid bodies to every relayed call and checks that nothing fails, nothing hangs, and refused calls cost
// nothing.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openStore } from '../../server/store/connection/open.ts'
import type { Store } from '../../server/store/store.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { type Behaviour, type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { type GatewayProcess, Installation } from '../helpers/gateway-process.ts'
import { fuzzRequests, fuzzSeed, inTurn, tell } from './plan.ts'
import { seeded } from './random.ts'
import { answerTargets, wrongAnswer } from './relay-answers.ts'
import { buildRelayRequest, relayModels, relayTargetName, relayTargets } from './relay-requests.ts'
import type { FuzzRequest } from './requests.ts'

const total = Math.round(fuzzRequests / 4)
const lanes = 8
const hangMs = 60_000

interface Answer {
  target: string
  request: string
  status: number
  id: string
  text: string
}

forEachDatabaseUrl((_, freshUrl) => {
  let installation: Installation
  let gateway: GatewayProcess
  let upstream: FakeUpstream
  let store: Store
  let key: string

  beforeAll(async () => {
    const url = await freshUrl()
    upstream = await startFakeUpstream()
    installation = new Installation(url.startsWith('postgres') ? url : undefined)
    gateway = await installation.start()
    store = openStore({ url: installation.databaseUrl })
    const channel = { type: 1, name: 'upstream', key: 'upstream-key', base_url: upstream.url, group: 'default' }
    const models = [...relayModels, 'gpt-image-1', 'gpt-3.5-turbo-instruct'].join(',')
    await gateway.api('POST', '/api/channel/', { ...channel, models })
    await gateway.api('PUT', '/api/user/', { id: 1, quota: 1e12 })
    const token = await gateway.api<{ key: string }>('POST', '/api/token/', { name: 'fuzz', remain_quota: 1e12 })
    key = `sk-${token.key}`
  }, 120_000)
  afterAll(async () => {
    await store.close()
    await installation[Symbol.asyncDispose]()
    await upstream.close()
  }, 120_000)

  async function send(target: string, request: FuzzRequest): Promise<Answer> {
    const { method, path, body } = request
    const headers = { authorization: `Bearer ${key}`, ...request.headers }
    const shown = `${method} ${path} ${JSON.stringify(request.headers).slice(0, 200)} ${String(body).slice(0, 600)}`
    try {
      const response = await fetch(gateway.url + path, {
        method,
        headers,
        ...(body !== undefined && { body }),
        signal: AbortSignal.timeout(hangMs),
      })
      const text = await response.text()
      return {
        target,
        request: shown,
        status: response.status,
        id: response.headers.get('x-oneapi-request-id') ?? '',
        text,
      }
    } catch (error) {
      return { target, request: shown, status: 0, id: '', text: String(error) }
    }
  }

  /** Expects that the charges match the log rows and that no hold is left. */
  async function expectAgreement(): Promise<void> {
    const rows = await store.read.selectFrom('logs').select('quota').where('type', '=', 2).execute()
    const sum = rows.reduce((all, { quota }) => all + quota, 0)
    const user = await store.read
      .selectFrom('users')
      .select(['quota', 'used_quota'])
      .where('id', '=', 1)
      .executeTakeFirstOrThrow()
    expect([user.used_quota, user.quota]).toEqual([sum, 1e12 - sum])
    const { code, output } = await installation.run('audit')
    expect([code, output]).toEqual([0, expect.stringContaining(' 0 holds open; 0 faults.')])
  }

  test(`${total} invalid relay calls cause no failure and no hang, and refused calls cost nothing`, async () => {
    const random = seeded(fuzzSeed)
    const order = inTurn(relayTargets, random)
    const answers: Answer[] = []
    let left = total
    const lane = async () => {
      while (left-- > 0) {
        const target = order.next().value
        answers.push(await send(relayTargetName(target), buildRelayRequest(target, random)))
        upstream.requests.length = 0
      }
    }
    await Promise.all(Array.from({ length: lanes }, lane))

    const statuses = new Map<number, number>()
    for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1)
    tell(`${total} relay calls`, statuses)

    // By design, paths and methods that the gateway does not serve get status 501, and models that no channel serves
    // get 503.
    const isFine = ({ status, text }: Answer) =>
      (status > 0 && status < 500) || status === 501 || (status === 503 && text.includes('"no_available_channel"'))
    const wrong = answers.filter((answer) => !isFine(answer))
    if (wrong.length > 0) console.log(gateway.said())
    expect(wrong.slice(0, 20)).toEqual([])

    const rows = await store.read.selectFrom('logs').select(['request_id', 'quota']).where('type', '=', 2).execute()
    const charged = new Map<string, number>()
    for (const { request_id: id, quota } of rows) charged.set(id, (charged.get(id) ?? 0) + quota)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.filter(({ id }) => (charged.get(id) ?? 0) !== 0)).toEqual([])
    const answered = answers.filter(({ status }) => status === 200)
    expect(answered.length).toBeGreaterThan(total / 20)
    expect(refused.length).toBeGreaterThan(total / 20)

    await expectAgreement()
  }, 3_600_000)

  test(`${total} nonsensical upstream responses cause no gateway failure, and the ledger stays consistent`, async () => {
    const random = seeded(fuzzSeed + 1)
    const order = inTurn(answerTargets, random)
    const chosen = new Map<string, Behaviour>()
    upstream.script((request) => chosen.get(String(request.fields['user'])))
    const wrong: Answer[] = []
    let number = 0
    const lane = async () => {
      while (number < total) {
        const user = `n${++number}`
        const target = order.next().value
        chosen.set(user, wrongAnswer(target, random))
        const body = JSON.stringify({ ...target.answer.request, user })
        const name = `${target.answer.path} ${target.answer.status} ${target.place.join('.')}`
        const answer = await send(name, { method: 'POST', path: target.answer.path, headers: {}, body })
        chosen.delete(user)
        upstream.requests.length = 0
        if (answer.status === 0 || answer.status === 500 || answer.text.includes('"internal_error"')) wrong.push(answer)
      }
    }
    await Promise.all(Array.from({ length: lanes }, lane))
    if (wrong.length > 0) console.log(gateway.said())
    expect(wrong.slice(0, 20)).toEqual([])
    await expectAgreement()
  }, 3_600_000)
})
