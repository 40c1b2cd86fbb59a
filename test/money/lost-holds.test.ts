import { expect, test } from 'bun:test'
import pg from 'pg'
import { networkTo } from '../helpers/bad-network.ts'
import { okChat, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { newPostgresDatabase, postgresMissing } from '../helpers/postgres.ts'
import { until } from '../relay/setup.ts'
import { answer, installFor, messages, model, newToken, pricePerCall, promptTokens } from './installed.ts'

/** The message that ends a query (PostgreSQL documentation, "Message Formats"). */
const sync = Buffer.from([0x53, 0, 0, 0, 4])

/** A network path to PostgreSQL that can delay a hold: the connection breaks, and the hold arrives later. */
async function badNetwork(databaseUrl: string) {
  let isArmed = false
  let deliver: (() => void) | undefined
  let releases = 0
  const network = await networkTo(databaseUrl, (near, far) => {
    let kept: Buffer | undefined
    near.on('data', (bytes: Buffer) => {
      if (isArmed && bytes.includes('ledger-quick') && bytes.includes(`{"${model}"}`)) {
        isArmed = false
        kept = Buffer.alloc(0)
      }
      if (kept === undefined) {
        // If the gateway does not know whether a hold was written, it releases the hold. The release uses another
        // statement than ordinary batches, so it can be recognised here.
        if (bytes.includes('ledger-batch')) releases++
        far.write(bytes)
        return
      }
      const whole = Buffer.concat([kept, bytes])
      kept = whole
      if (!whole.subarray(-sync.length).equals(sync)) return
      deliver = () => far.write(whole)
      near.destroy()
    })
    far.on('data', (bytes) => near.write(bytes))
    near.on('close', () => {
      if (kept === undefined) far.destroy()
    })
  })
  return {
    ...network,
    keepNextHold() {
      isArmed = true
    },
    deliver: () => deliver?.(),
    releasesPassed: () => releases,
  }
}

/** A quota, in units, that covers the highest possible cost of a call. */
const granted = 1_000_000

const name = 'postgres: quota that is taken after its call was given up comes back while the server runs'
if (postgresMissing !== undefined) test.skip(`${name} (${postgresMissing})`, () => undefined)
else {
  test(name, async () => {
    await using upstream = await startFakeUpstream()
    upstream.always(okChat({ text: answer, promptTokens }))
    await using database = await newPostgresDatabase()
    await using network = await badNetwork(database.url)
    await using installation = new Installation(network.url)
    const gateway = await installation.start()
    await installFor(gateway, upstream.url)
    const token = await newToken(gateway, granted)
    const admin = new pg.Client({ connectionString: database.url })
    await admin.connect()
    const figures = async () => {
      const { rows } = await admin.query<{ remain: number; used: number; held: number }>(
        `select remain_quota::int as remain, used_quota::int as used,
           (select coalesce(sum(amount), 0)::int from holds) as held from tokens where id = $1`,
        [token.id],
      )
      return rows[0]
    }
    try {
      network.keepNextHold()
      const refused = await gateway.post('/v1/chat/completions', { model, messages }, token.key)
      expect(refused.status).toBe(503)
      expect(upstream.requests).toEqual([])
      // The gateway releases the hold of the first call, which has not reached the database yet. The next call is made
      // after this release.
      await until(() => network.releasesPassed() === 1)
      expect((await gateway.post('/v1/chat/completions', { model, messages }, token.key)).status).toBe(200)
      const left = { remain: granted - pricePerCall, used: pricePerCall, held: 0 }
      expect(await figures()).toEqual(left)
      network.deliver()
      await until(async () => ((await figures())?.held ?? 0) > 0 || gateway.said().includes('which no call owns'))
      await until(async () => (await figures())?.held === 0, 100_000)
      // The log line arrives through a pipe, later than the event that it reports.
      await until(() => gateway.said().includes('which no call owns, was closed with a charge of 0'))
      expect(await figures()).toEqual(left)
      expect(await installation.run('audit')).toMatchObject({ code: 0 })
      expect(await gateway.stop()).toBe(0)
    } finally {
      await admin.end()
    }
  }, 120_000)
}
