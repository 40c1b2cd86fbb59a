import { expect, test } from 'bun:test'
import { openStore } from '../../server/store/connection/open.ts'
import type { Store } from '../../server/store/store.ts'
import { behaviour, type FakeUpstream, okChat, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { type GatewayProcess, Installation } from '../helpers/gateway-process.ts'
import { newPostgresDatabase, postgresMissing } from '../helpers/postgres.ts'
import { answer, installFor, messages, model, newToken, promptTokens } from './installed.ts'

const calls = 500
const mostAtOnce = 7

/** Counts the requests that are at the upstream at the same time. */
class Counted {
  inside = 0
  most = 0
  served = 0
  /** While true, requests stay at the upstream. */
  isHeld = false

  constructor(upstream: FakeUpstream) {
    upstream.script(() =>
      behaviour('counted', async (exchange) => {
        this.most = Math.max(this.most, ++this.inside)
        exchange.callerLeft.addEventListener('abort', () => this.inside--)
        if (this.isHeld) return exchange.hang()
        // Waits long enough for calls of other processes to arrive.
        await new Promise((resolve) => setTimeout(resolve, 5))
        if (exchange.callerLeft.aborted) return
        this.inside--
        this.served++
        await okChat({ text: answer, promptTokens }).run(exchange)
      }),
    )
  }
}

async function limitChannel(gateway: GatewayProcess): Promise<void> {
  const limits = [
    { metric: 'calls', window: 'now', most: mostAtOnce },
    { metric: 'requests', window: 'day', most: 100_000 },
  ]
  await gateway.api('PUT', '/api/channel/', { id: 1, limits })
  await gateway.api('PUT', '/api/option/', { key: 'ChannelWaitTime', value: '110' })
}

async function until(condition: () => Promise<boolean> | boolean, timeoutMs = 60_000): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const placesOf = async (store: Store) => (await store.read.selectFrom('cap_places').select('hold_id').execute()).length
const waitingOf = async (store: Store) =>
  (await store.read.selectFrom('cap_waits').select('ticket').execute()).map(({ ticket }) => Number(ticket))

const name = `postgres: ${calls} calls from three processes on a channel of ${mostAtOnce}: never more at once, all served in order, places of a killed process come free`
if (postgresMissing !== undefined) test.skip(`${name} (${postgresMissing})`, () => undefined)
else {
  test(name, async () => {
    await using upstream = await startFakeUpstream()
    const counted = new Counted(upstream)
    await using database = await newPostgresDatabase()
    await using installation = new Installation(database.url)
    const first = await installation.start()
    await installFor(first, upstream.url)
    const [second, doomed] = [await installation.start(), await installation.start()]
    const gateways = [first, second, doomed]
    await limitChannel(first)
    const token = await newToken(first, 100_000_000)
    const store = openStore({ url: database.url })
    const post = (gateway: GatewayProcess) => gateway.post('/v1/chat/completions', { model, messages }, token.key)
    // All nodes must know the limit before the calls arrive.
    for (const gateway of gateways)
      await until(async () => {
        await (await post(gateway)).text()
        const { requests } = await usedOf(first)
        return requests >= counted.served
      })

    // Checks the order of the waiting calls: every ticket that is waiting has a higher number than the tickets that
    // were served.
    const statuses = new Map<number, number>()
    counted.most = 0
    const before = counted.served
    let lastFirst = 0
    let isDone = false
    const watch = (async () => {
      while (!isDone) {
        const [earliest = lastFirst] = (await waitingOf(store)).sort((a, b) => a - b)
        expect(earliest).toBeGreaterThanOrEqual(lastFirst)
        lastFirst = earliest
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    })()
    await Promise.all(
      Array.from({ length: calls }, async (_, index) => {
        const response = await post(gateways[index % gateways.length] as GatewayProcess)
        await response.text()
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
      }),
    )
    isDone = true
    await watch
    expect([...statuses]).toEqual([[200, calls]])
    expect(counted.served - before).toBe(calls)
    expect(counted.most).toBeLessThanOrEqual(mostAtOnce)
    // Without this check, the test would also pass if no two calls were at the upstream at the same time.
    expect(counted.most).toBeGreaterThan(1)

    // One process is killed while its calls use all places, and while its waiting calls are ahead of the waiting calls
    // of the other processes.
    counted.isHeld = true
    const lost = Array.from({ length: mostAtOnce }, () => post(doomed).catch(() => undefined))
    await until(() => counted.inside === mostAtOnce)
    const alsoLost = Array.from({ length: 5 }, () => post(doomed).catch(() => undefined))
    await until(async () => (await waitingOf(store)).length === 5)
    const waiting = [post(first), post(second)]
    await until(async () => (await waitingOf(store)).length === 7)
    counted.isHeld = false
    const killedAtMs = Date.now()
    await doomed.kill()
    for (const response of await Promise.all(waiting)) expect(response.status).toBe(200)
    expect(Date.now() - killedAtMs).toBeLessThan(30_000)
    await Promise.all([...lost, ...alsoLost])
    await until(async () => (await placesOf(store)) === 0)
    await store.close()
    const audit = await installation.run('audit')
    expect(audit.output).toContain(' 0 holds open; 0 faults.')
    expect(audit.code).toBe(0)
  }, 240_000)
}

async function usedOf(gateway: GatewayProcess): Promise<{ requests: number }> {
  const { channels } = await gateway.api<{ channels: { limits: { metric: string; used: number }[] }[] }>(
    'GET',
    '/api/channel/limits',
  )
  return { requests: channels[0]?.limits.find(({ metric }) => metric === 'requests')?.used ?? 0 }
}
