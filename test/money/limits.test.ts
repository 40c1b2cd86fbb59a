import { describe, expect, test } from 'bun:test'
import { openStore } from '../../server/store/connection/open.ts'
import { untilDayEndIsFar } from '../helpers/day-end.ts'
import { behaviour, type FakeUpstream, ok, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { type GatewayProcess, Installation } from '../helpers/gateway-process.ts'
import { newPostgresDatabase, postgresMissing } from '../helpers/postgres.ts'
import { answer, installFor, messages, model, newToken, pricePerCall, promptTokens } from './installed.ts'

const perMinute = 60
const atOnce = 3
const limits = { rpm_limit: perMinute, concurrency_limit: atOnce }
const timeoutMs = 300_000

forEachSetup((database, processes) => {
  test(
    `with a limit of ${perMinute} calls a minute and ${atOnce} concurrent calls, exactly that many are served`,
    async () => {
      await using setup = await start(await database(), processes)
      const { gateways, upstream, gate, installation } = setup
      await inOneMinute(setup, async (token) => {
        const before = upstream.requests.length
        const seen: Seen[] = []
        for (let round = 0; round < perMinute / atOnce; round++) seen.push(...(await roundOfCalls(setup, token.key)))
        const served = seen.filter(({ status }) => status === 200)
        expect(served).toHaveLength(perMinute)
        expect(gate.most).toBe(atOnce)
        // The limit for this minute is used up in every process.
        const further = await Promise.all(Array.from({ length: 30 }, (_, index) => call(gateways, index, token.key)))
        expect(new Set(further.map(({ status, code }) => `${status} ${code}`))).toEqual(
          new Set(['429 rate_limit_exceeded']),
        )
        for (const refused of further) {
          expect(refused.message).toContain(`${perMinute} requests per minute`)
          expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('0')
          expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
        }
        // Each response reports how many calls were left when its call was admitted, so every number must occur once.
        const left = served.map(({ headers }) => Number(headers.get('x-ratelimit-remaining-requests')))
        expect(left.sort((a, b) => a - b)).toEqual(Array.from({ length: perMinute }, (_, index) => index))
        expect(upstream.requests.length - before).toBe(perMinute)
        await expectBooks(installation, token.id, perMinute)
      })
    },
    timeoutMs,
  )

  test(
    'callers who call as fast as they can get no more calls than the limit allows',
    async () => {
      await using setup = await start(await database(), processes)
      const { gateways, gate, installation } = setup
      gate.open = true
      await inOneMinute(setup, async (token) => {
        let served = 0
        await Promise.all(
          Array.from({ length: 12 }, async (_none, index) => {
            for (;;) {
              const { status, message } = await call(gateways, index, token.key)
              if (status === 200) served++
              else if (message.includes('requests per minute')) return
            }
          }),
        )
        expect(served).toBe(perMinute)
        expect(gate.most).toBeLessThanOrEqual(atOnce)
        await expectBooks(installation, token.id, perMinute)
      })
    },
    timeoutMs,
  )

  test(
    'with a daily budget for 60 calls, exactly 60 of 300 concurrent calls are served',
    async () => {
      await using setup = await start(await database(), processes)
      const { gateways, gate, installation } = setup
      gate.open = true
      await setup.first.api('PUT', '/api/option/', { key: 'HoldWaitTime', value: '60' })
      const token = await newToken(setup.first, undefined, { daily_budget: 60 * pricePerCall })
      const seen = await Promise.all(Array.from({ length: 300 }, (_, index) => call(gateways, index, token.key)))
      expect(seen.filter(({ status }) => status === 200)).toHaveLength(60)
      const refused = seen.filter(({ status }) => status !== 200)
      expect(new Set(refused.map(({ status, code }) => `${status} ${code}`))).toEqual(
        new Set(['403 daily_budget_exceeded']),
      )
      expect(refused.every(({ headers }) => Number(headers.get('retry-after')) > 0)).toBe(true)
      await expectBooks(installation, token.id, 60)
    },
    timeoutMs,
  )

  test(
    'the concurrency slots of a killed process are freed for new calls',
    async () => {
      await using setup = await start(await database(), 1)
      const { upstream, gate, installation, first } = setup
      const token = await newToken(first, undefined, { concurrency_limit: atOnce })
      const open = Array.from({ length: atOnce }, () => call([first], 0, token.key).catch(() => 'cut off'))
      await upstream.until(({ openStreams }) => openStreams === atOnce, timeoutMs)
      expect(await call([first], 0, token.key)).toMatchObject({ status: 429 })
      await first.kill()
      expect(await Promise.all(open)).toEqual(Array(atOnce).fill('cut off'))
      const again = await installation.start()
      gate.open = true
      letGo(gate)
      const seen = await Promise.all(Array.from({ length: atOnce }, () => call([again], 0, token.key)))
      expect(seen.map(({ status }) => status)).toEqual(Array(atOnce).fill(200))
    },
    timeoutMs,
  )
})

type Database = Awaited<ReturnType<typeof newPostgresDatabase>> | undefined

function forEachSetup(suite: (database: () => Promise<Database>, processes: number) => void): void {
  describe('sqlite, one process', () => suite(async () => undefined, 1))
  if (postgresMissing !== undefined) {
    test.skip(`postgres (${postgresMissing})`, () => undefined)
    return
  }
  describe('postgres, three processes', () => suite(newPostgresDatabase, 3))
}

/** A gate at which calls to the upstream wait until the test lets them be answered. */
interface Gate {
  /** If true, every call is answered immediately. */
  open: boolean
  /** Calls that wait for their response, and the highest number that have waited at once. */
  waiting: (() => void)[]
  most: number
}

interface Setup extends AsyncDisposable {
  upstream: FakeUpstream
  gate: Gate
  installation: Installation
  gateways: GatewayProcess[]
  first: GatewayProcess
}

async function start(database: Database, processes: number): Promise<Setup> {
  await untilDayEndIsFar()
  const upstream = await startFakeUpstream()
  const gate: Gate = { open: false, waiting: [], most: 0 }
  const good = ok({ text: answer, promptTokens })
  upstream.always(
    behaviour('gated', async (exchange) => {
      const mayAnswer = new Promise<void>((resolve) => gate.waiting.push(resolve))
      gate.most = Math.max(gate.most, gate.waiting.length)
      if (gate.open) setImmediate(() => gate.waiting.shift()?.())
      await mayAnswer
      await good.run(exchange)
    }),
  )
  const installation = new Installation(database?.url)
  const first = await installation.start()
  await installFor(first, upstream.url)
  const gateways = [first]
  while (gateways.length < processes) gateways.push(await installation.start())
  return {
    upstream,
    gate,
    installation,
    gateways,
    first,
    async [Symbol.asyncDispose]() {
      await installation[Symbol.asyncDispose]()
      await upstream.close()
      await database?.drop()
    },
  }
}

/**
 * Tests a per-minute limit with a new token. If the test takes longer than a minute, its first calls no longer count at
 * the end. A failure then proves nothing, and the test is repeated.
 */
async function inOneMinute(
  { first, gate }: Setup,
  proof: (token: Awaited<ReturnType<typeof newToken>>) => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const token = await newToken(first, undefined, limits)
    gate.most = 0
    const startedAt = Date.now()
    try {
      return await proof(token)
    } catch (error) {
      if (Date.now() - startedAt < 60_000 || attempt === 3) throw error
      letGo(gate)
    }
  }
}

function letGo(gate: Gate): void {
  for (const answerIt of gate.waiting.splice(0)) answerIt()
}

interface Seen {
  status: number
  headers: Headers
  code: string
  message: string
}

async function call(gateways: readonly GatewayProcess[], index: number, key: string): Promise<Seen> {
  const gateway = gateways[index % gateways.length] as GatewayProcess
  const response = await gateway.post('/v1/chat/completions', { model, messages, max_tokens: 10 }, key)
  const body = (await response.json()) as { error?: { code: string; message: string } }
  const { code = '', message = '' } = body.error ?? {}
  return { status: response.status, headers: response.headers, code, message }
}

/**
 * Makes three times as many concurrent calls as allowed, through all processes. No admitted call is answered until all
 * the others have been refused.
 */
async function roundOfCalls({ gateways, upstream, gate }: Setup, key: string): Promise<Seen[]> {
  let refused = 0
  const calls = Array.from({ length: 3 * atOnce }, async (_none, index) => {
    const seen = await call(gateways, index, key)
    if (seen.status !== 429) return seen
    if (++refused < 2 * atOnce) return seen
    await upstream.until(() => gate.waiting.length === atOnce, timeoutMs)
    letGo(gate)
    return seen
  })
  return Promise.all(calls)
}

/**
 * Expects that this many calls of the token are charged and logged, that no call is still open, and that the ledger is
 * consistent.
 */
async function expectBooks(installation: Installation, tokenId: number, calls: number): Promise<void> {
  const store = openStore({ url: installation.databaseUrl })
  const token = await store.read.selectFrom('tokens').selectAll().where('id', '=', tokenId).executeTakeFirstOrThrow()
  const logs = await store.read
    .selectFrom('logs')
    .select('quota')
    .where('token_id', '=', tokenId)
    .where('type', '=', 2)
    .execute()
  await store.close()
  const charge = calls * pricePerCall
  expect(logs.map(({ quota }) => quota)).toEqual(Array(calls).fill(pricePerCall))
  expect(token).toMatchObject({ used_quota: charge, spent_today: charge, spent_month: charge })
  const audit = await installation.run('audit')
  expect(audit.output).toContain(' 0 holds open; 0 faults.')
  expect(audit.code).toBe(0)
}
