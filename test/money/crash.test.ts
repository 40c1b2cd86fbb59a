import { describe, expect, test } from 'bun:test'
import { openStore } from '../../server/store/connection/open.ts'
import type { Store } from '../../server/store/store.ts'
import { type FakeUpstream, late, okChat, okStream, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { type GatewayProcess, Installation } from '../helpers/gateway-process.ts'
import { newPostgresDatabase, postgresMissing } from '../helpers/postgres.ts'
import { allowLeases, installFor, messages, model, newToken } from './installed.ts'

/** How often a gateway is killed: a few times in every run, and 30 times or more in a thorough run. */
const rounds = Number(process.env.CRASH_ROUNDS ?? 3)
const openCalls = 200

describe(`kill -9 with ${openCalls} open calls, ${rounds} times`, () => {
  test('sqlite', () => proof(undefined, rounds), 60_000 + rounds * 20_000)
  if (postgresMissing !== undefined) {
    test.skip(`postgres (${postgresMissing})`, () => undefined)
    return
  }
  for (const leases of [false, true]) {
    test(
      leases ? 'postgres, with leases' : 'postgres',
      async () => {
        await using database = await newPostgresDatabase()
        await proof(database.url, Math.ceil(rounds / 3), leases)
      },
      60_000 + rounds * 20_000,
    )
  }
})

interface Seen {
  requestId: string
  /** True for a complete JSON body, or for a stream up to its end marker. */
  complete: boolean
}

async function proof(databaseUrl: string | undefined, times: number, leases = false): Promise<void> {
  await using upstream = await startFakeUpstream()
  paced(upstream)
  await using installation = new Installation(databaseUrl)
  let gateway = await installation.start()
  await installFor(gateway, upstream.url)
  if (leases) await allowLeases(gateway)
  const token = await newToken(gateway, 100_000_000)
  const store = openStore({ url: installation.databaseUrl })
  const totals = { calls: 0, complete: 0, swept: 0 }
  for (let round = 0; round < times; round++) {
    const seen = await killedUnderLoad(gateway, upstream, token.key, 20 + Math.floor(Math.random() * 400))
    const left = (await openHoldsOf(store)) + (await leasesOf(store))
    gateway = await installation.start()
    expect(await openHoldsOf(store)).toBe(0)
    expect(await leasesOf(store)).toBe(0)
    await expectOneRowEach(store, seen)
    const audit = await installation.run('audit')
    expect(audit.output).toContain(' 0 holds open; 0 faults.')
    expect(audit.code).toBe(0)
    totals.calls += seen.length
    totals.complete += seen.filter(({ complete }) => complete).length
    totals.swept += left
  }
  // With fewer complete calls, the gateway may have been killed while no call was in progress. The test would then
  // prove nothing.
  expect(totals.complete).toBeGreaterThanOrEqual(20 * times)
  expect(totals.swept).toBeGreaterThanOrEqual(times)
  if (process.env.CRASH_ROUNDS) console.log(store.dialect, { rounds: times, ...totals })
  await store.close()
}

/** Responses that take between zero and some tens of milliseconds, so that a kill hits calls at every stage. */
function paced(upstream: FakeUpstream): void {
  const some = (most: number) => Math.floor(Math.random() * most)
  upstream.script((request) =>
    request.fields.stream === true
      ? okStream({ chunks: 1 + some(12), delayMs: some(6), firstDelayMs: some(20) })
      : late(some(60), okChat({ text: 'a '.repeat(1 + some(30)).trim() })),
  )
}

/**
 * Keeps the gateway busy, and kills it when this many responses are complete and others are in progress at any stage.
 */
async function killedUnderLoad(
  gateway: GatewayProcess,
  upstream: FakeUpstream,
  key: string,
  killAfter: number,
): Promise<Seen[]> {
  const seen: Seen[] = []
  let complete = 0
  let killed: Promise<void> | undefined
  await Promise.all(
    Array.from({ length: openCalls }, async (_none, index) => {
      while (!killed) {
        const isStream = index % 2 === 0
        const call = await oneCall(gateway, key, isStream)
        if (call) seen.push(call)
        if (!call?.complete || ++complete !== killAfter) continue
        await upstream.until(({ openStreams }) => openStreams >= 10)
        killed = gateway.kill()
      }
    }),
  )
  await killed
  return seen
}

async function oneCall(gateway: GatewayProcess, key: string, stream: boolean): Promise<Seen | undefined> {
  let requestId = ''
  let text = ''
  try {
    const response = await gateway.post('/v1/chat/completions', { model, messages, ...(stream && { stream }) }, key)
    requestId = response.headers.get('x-oneapi-request-id') ?? ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true })
  } catch {
    // The gateway was killed. The part of the response that had arrived is checked.
  }
  if (requestId === '') return undefined
  return { requestId, complete: stream ? text.includes('data: [DONE]') : isJson(text) }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

async function openHoldsOf(store: Store): Promise<number> {
  return (await store.read.selectFrom('holds').select('id').execute()).length
}

/** The number of leases that have not been returned. It is 0 on SQLite, which has no such table. */
async function leasesOf(store: Store): Promise<number> {
  if (store.dialect === 'sqlite') return 0
  return (await store.read.selectFrom('leases').select('id').execute()).length
}

/**
 * Expects that no call has two rows, and that each call whose caller received a complete response has a row that is
 * marked complete and has a charge.
 */
async function expectOneRowEach(store: Store, seen: readonly Seen[]): Promise<void> {
  const rows = await store.read.selectFrom('logs').selectAll().execute()
  const byRequest = Map.groupBy(rows, (row) => row.request_id)
  expect([...byRequest.values()].filter((found) => found.length > 1)).toEqual([])
  const notCharged = seen.filter(({ requestId, complete }) => {
    const row = byRequest.get(requestId)?.[0]
    return complete && !(row?.outcome === 'complete' && row.quota > 0)
  })
  expect(notCharged).toEqual([])
  const unknown = rows.filter((row) => row.outcome === 'interrupted' && !(row.channel_id > 0 && row.prompt_tokens > 0))
  expect(unknown).toEqual([])
}
