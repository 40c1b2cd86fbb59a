import { expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { heartbeat, sweepHolds } from '../../server/jobs/sweep-holds.ts'
import { systemClock } from '../../server/lib/clock.ts'
import { openStore } from '../../server/store/open.ts'
import { behaviour, okChat, startFakeUpstream, streamHeaders } from '../helpers/fake-upstream.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { newPostgresDatabase, postgresMissing } from '../helpers/postgres.ts'
import { answer, installFor, messages, model, newToken, pricePerCall, promptTokens } from './installed.ts'

const streams = 30

const name = 'postgres: the calls of a killed node are closed by another once its heartbeat is gone, not before'
if (postgresMissing !== undefined) test.skip(`${name} (${postgresMissing})`, () => undefined)
else {
  test(name, async () => {
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
    const [doomed, other] = [await installation.start(), await installation.start()]
    await installFor(doomed, upstream.url)
    const token = await newToken(doomed, 1_000_000)
    const store = openStore({ url: database.url })
    const holds = async () => (await store.read.selectFrom('holds').select('id').execute()).length
    await Promise.all(
      Array.from({ length: streams }, async () => {
        const response = await doomed.post('/v1/chat/completions', { model, messages, stream: true }, token.key)
        await response.body?.getReader().read()
      }),
    )
    expect(await holds()).toBe(streams)
    // As if it had run on another machine, where nobody can look for its process.
    await store.write((trx) =>
      trx.updateTable('nodes').set({ host: 'another machine' }).where('pid', '=', doomed.pid).execute(),
    )
    await doomed.kill()
    const watcher = { store, clock: systemClock, nodeId: randomUUID(), events: { holdSwept: () => {} } as never }
    await heartbeat(watcher)
    expect(await sweepHolds(watcher)).toBe(0)
    expect(await holds()).toBe(streams)
    await store.write((trx) =>
      trx
        .updateTable('nodes')
        .set((eb) => ({ heartbeat_at: eb('heartbeat_at', '-', 31) }))
        .where('pid', '=', doomed.pid)
        .execute(),
    )
    // The other node goes on serving the same token all the while; whoever of the two sweeps, it happens once.
    const [, served] = await Promise.all([
      sweepHolds(watcher),
      Promise.all(Array.from({ length: 20 }, () => other.post('/v1/chat/completions', { model, messages }, token.key))),
    ])
    expect(served.map(({ status }) => status)).toEqual(Array(20).fill(200))
    const logs = await store.read.selectFrom('logs').select(['outcome', 'quota']).where('type', '=', 2).execute()
    expect(await holds()).toBe(0)
    expect(logs.filter(({ outcome }) => outcome === 'interrupted')).toHaveLength(streams)
    expect(logs.filter(({ outcome }) => outcome === 'complete').map(({ quota }) => quota)).toEqual(
      Array(20).fill(pricePerCall),
    )
    await store.close()
    const audit = await installation.run('audit')
    expect(audit.output).toContain(' 0 holds open; 0 faults.')
    expect(audit.code).toBe(0)
  }, 120_000)
}
