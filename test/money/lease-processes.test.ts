import { describe, expect, test } from 'bun:test'
import { openStore } from '../../server/store/connection/open.ts'
import type { Store } from '../../server/store/store.ts'
import { behaviour, okChat, startFakeUpstream, streamHeaders } from '../helpers/fake-upstream.ts'
import { type GatewayProcess, Installation } from '../helpers/gateway-process.ts'
import { newPostgresDatabase, postgresMissing } from '../helpers/postgres.ts'
import {
  answer,
  completionTokens,
  installFor,
  messages,
  model,
  newToken,
  pricePerCall,
  promptTokens,
} from './installed.ts'

const calls = 1_000
const paid = 300
const streams = 20
const plenty = 100_000 * pricePerCall

if (postgresMissing !== undefined) test.skip(`leases of processes (${postgresMissing})`, () => undefined)
else
  describe('three processes with leases', () => {
    test(`serve exactly ${paid} of ${calls} concurrent calls, include leased quota in the balance that they report, and lose nothing on kill -9`, async () => {
      await using upstream = await startFakeUpstream()
      upstream.script((request) =>
        request.fields.stream === true
          ? behaviour('one word, then silence', async (exchange) => {
              exchange.head(200, streamHeaders())
              await exchange.write('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n')
              exchange.hang()
            })
          : okChat({ text: answer, promptTokens }),
      )
      await using database = await newPostgresDatabase()
      await using installation = new Installation(database.url)
      const first = await installation.start()
      await installFor(first, upstream.url)
      for (const [key, value] of [
        ['HoldWaitTime', '60'],
        ['QuotaLeaseShare', '20'],
      ])
        await first.api('PUT', '/api/option/', { key, value })
      const gateways: GatewayProcess[] = [first, await installation.start(), await installation.start()]
      const store = openStore({ url: database.url })
      const call = (gateway: GatewayProcess, key: string) =>
        gateway
          .post('/v1/chat/completions', { model, messages, max_tokens: completionTokens }, key)
          .then(async (response) => {
            await response.text()
            return response.status
          })
      const leaseAll = (token: { id: number; key: string }) =>
        untilAllLease(store, gateways, token.id, (gateway) => call(gateway, token.key))

      const wide = await newToken(first, plenty)
      await leaseAll(wide)
      const shown = await first.api<{ remain_quota: number; used_quota: number }>('GET', `/api/token/${wide.id}`)
      expect(shown.remain_quota + shown.used_quota).toBe(plenty)
      expect((await store.read.selectFrom('leases').selectAll().execute()).length).toBeGreaterThan(0)
      const doomed = gateways[1] as GatewayProcess
      await Promise.all(
        Array.from({ length: streams }, async () => {
          const response = await doomed.post('/v1/chat/completions', { model, messages, stream: true }, wide.key)
          await response.body?.getReader().read()
        }),
      )
      // Waits until all holds are written. A stream whose hold is not written yet would cost nothing when its process
      // is killed.
      const held = () => store.read.selectFrom('holds').select('id').execute()
      while ((await held()).length < streams) await new Promise((resolve) => setTimeout(resolve, 10))
      await doomed.kill()
      const killedAtMs = Date.now()
      const ofDoomed = () => openOf(store, doomed)
      while (((await ofDoomed()) ?? 0) > 0) await new Promise((resolve) => setTimeout(resolve, 100))
      expect(Date.now() - killedAtMs).toBeLessThan(30_000)
      gateways[1] = await installation.start()
      // The token's quota is the price of 1,000 calls. First, calls are made until every process has a lease. Then
      // calls reduce the balance to the price of 300 calls.
      const tight = await newToken(first, 1_000 * pricePerCall)
      await leaseAll(tight)
      const { remain_quota: left } = await first.api<{ remain_quota: number }>('GET', `/api/token/${tight.id}`)
      const burst = (count: number) =>
        Promise.all(
          Array.from({ length: count }, (_none, index) => call(gateways[index % 3] as GatewayProcess, tight.key)),
        )
      expect(new Set(await burst(left / pricePerCall - paid))).toEqual(new Set([200]))
      expect(await store.read.selectFrom('leases').select('id').where('token_id', '=', tight.id).execute()).not.toEqual(
        [],
      )
      const statuses = await burst(calls)
      expect(statuses.filter((status) => status === 200)).toHaveLength(paid)
      expect(new Set(statuses)).toEqual(new Set([200, 401]))
      const row = await store.read.selectFrom('tokens').selectAll().where('id', '=', tight.id).executeTakeFirstOrThrow()
      expect([row.remain_quota, row.used_quota]).toEqual([0, 1_000 * pricePerCall])
      // If an admin sets a new balance, the balance is exactly this value, even if parts of the old balance are leased.
      await first.api('PUT', '/api/token/', { id: wide.id, remain_quota: 12_345 })
      expect(await first.api('GET', `/api/token/${wide.id}`)).toMatchObject({ remain_quota: 12_345 })
      for (const gateway of gateways) await gateway.stop()
      expect(await store.read.selectFrom('leases').selectAll().execute()).toEqual([])
      const outcomes = await store.read.selectFrom('logs').select('outcome').where('token_id', '=', wide.id).execute()
      expect(outcomes.filter(({ outcome }) => outcome === 'interrupted')).toHaveLength(streams)
      await store.close()
      const audit = await installation.run('audit')
      expect(audit.output).toContain(' 0 holds open; 0 faults.')
      expect(audit.code).toBe(0)
    }, 180_000)
  })

/** Calls until every process has a lease on the token. */
async function untilAllLease(
  store: Store,
  gateways: readonly GatewayProcess[],
  tokenId: number,
  call: (gateway: GatewayProcess) => Promise<number>,
): Promise<void> {
  for (;;) {
    const rows = await store.read.selectFrom('leases').select('node_id').where('token_id', '=', tokenId).execute()
    if (new Set(rows.map(({ node_id }) => node_id)).size === gateways.length) return
    expect(
      new Set(await Promise.all(gateways.flatMap((gateway) => Array.from({ length: 6 }, () => call(gateway))))),
    ).toEqual(new Set([200]))
  }
}

/** The number of rows that remain in the database for a process that has ended: its node, its holds and its leases. */
async function openOf(store: Store, { pid }: GatewayProcess): Promise<number> {
  const nodes = await store.read.selectFrom('nodes').select('id').where('pid', '=', pid).execute()
  const known = await store.read.selectFrom('nodes').select('id').execute()
  const rows = await store.read
    .selectFrom('leases')
    .select('node_id')
    .unionAll(store.read.selectFrom('holds').select('node_id'))
    .execute()
  return nodes.length + rows.filter(({ node_id }) => !known.some(({ id }) => id === node_id)).length
}
