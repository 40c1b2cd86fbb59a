import { expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { createPulse } from '../../server/jobs/pulse.ts'
import { sweepHolds } from '../../server/jobs/sweep-holds.ts'
import { openStore } from '../../server/store/connection/open.ts'
import { behaviour, type FakeUpstream, okChat, startFakeUpstream, streamHeaders } from '../helpers/fake-upstream.ts'
import { type GatewayProcess, Installation } from '../helpers/gateway-process.ts'
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
    // The node is recorded as running on another machine, where its process cannot be checked.
    await store.write((trx) =>
      trx.updateTable('nodes').set({ host: 'another machine' }).where('pid', '=', doomed.pid).execute(),
    )
    await doomed.kill()
    const time = { ms: Date.now() }
    const watching = { store, clock: { nowMs: () => time.ms }, nodeId: randomUUID() }
    const pulse = createPulse(watching)
    const watcher = { ...watching, pulse, events: { holdSwept: () => {} } as never }
    const beatFor30s = async () => {
      for (let beat = 0; beat <= 6; beat++) {
        time.ms += 5_000
        await pulse.beat()
      }
    }
    await beatFor30s()
    expect(await sweepHolds(watcher)).toBe(0)
    expect(await holds()).toBe(streams)
    await store.write((trx) =>
      trx
        .updateTable('nodes')
        .set((eb) => ({ heartbeat_at: eb('heartbeat_at', '-', 31) }))
        .where('pid', '=', doomed.pid)
        .execute(),
    )
    // After a gap in its own heartbeat, a node waits half a minute before it considers another node dead, because the
    // gap may be its own fault.
    time.ms += 40_000
    await pulse.beat()
    expect(await sweepHolds(watcher)).toBe(0)
    await beatFor30s()
    // The other node serves calls of the same token the whole time. Both nodes can release the holds, but each hold is
    // released only once.
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

/** Opens a stream and waits for its first half. The second half arrives when `goOn` is called. */
async function openStream(upstream: FakeUpstream, gateway: GatewayProcess, key: string) {
  const { promise: isOver, resolve: goOn } = Promise.withResolvers<void>()
  const event = (fields: object) => `data: ${JSON.stringify({ object: 'chat.completion.chunk', ...fields })}\n\n`
  upstream.always(
    behaviour('in two halves', async (exchange) => {
      exchange.head(200, streamHeaders())
      await exchange.write(event({ choices: [{ index: 0, delta: { content: 'a a' } }] }))
      await isOver
      await exchange.write(event({ choices: [{ index: 0, delta: { content: ' a a' }, finish_reason: 'stop' }] }))
      const usage = { prompt_tokens: promptTokens, completion_tokens: 4, total_tokens: promptTokens + 4 }
      await exchange.write(`${event({ choices: [], usage })}data: [DONE]\n\n`)
      exchange.end()
    }),
  )
  const response = await gateway.post('/v1/chat/completions', { model, messages, stream: true }, key)
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = decoder.decode((await reader?.read())?.value)
  const rest = async () => {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read())
      text += decoder.decode(part.value)
    return text
  }
  return { goOn, rest }
}

for (const host of ['another machine', undefined]) {
  const where = host === undefined ? 'the same machine' : host
  const name = `postgres: a node on ${where} that was silent with the database goes on with its calls when another starts`
  if (postgresMissing !== undefined) test.skip(`${name} (${postgresMissing})`, () => undefined)
  else {
    test(name, async () => {
      await using upstream = await startFakeUpstream()
      await using database = await newPostgresDatabase()
      await using installation = new Installation(database.url)
      const node = await installation.start()
      await installFor(node, upstream.url)
      const token = await newToken(node, 1_000_000)
      const store = openStore({ url: database.url })
      const stream = await openStream(upstream, node, token.key)
      // This is the state after a database outage: the node has not sent its next heartbeat yet.
      process.kill(node.pid, 'SIGSTOP')
      await store.write((trx) =>
        trx
          .updateTable('nodes')
          .set((eb) => ({ heartbeat_at: eb('heartbeat_at', '-', 40), ...(host !== undefined && { host }) }))
          .where('pid', '=', node.pid)
          .execute(),
      )
      await installation.start()
      const listed = await store.read.selectFrom('nodes').select('pid').where('pid', '=', node.pid).execute()
      process.kill(node.pid, 'SIGCONT')
      stream.goOn()
      expect(await stream.rest()).toContain('data: [DONE]')
      const logs = await store.read.selectFrom('logs').select(['outcome', 'quota']).where('type', '=', 2).execute()
      expect(logs).toEqual([{ outcome: 'complete', quota: pricePerCall }])
      expect(listed).toHaveLength(1)
      await store.close()
      expect(await installation.run('audit')).toMatchObject({ code: 0 })
    }, 120_000)
  }
}
