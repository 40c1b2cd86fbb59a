// Nodes that share a database place a session on the same channel, without communicating with each other.
import { expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { newPostgresDatabase, postgresMissing } from '../helpers/postgres.ts'
import { startTestGateway, type TestGateway } from '../helpers/test-gateway.ts'
import { chat, see, until } from './setup.ts'

const title = 'three nodes agree on the channels of 20 sessions, and on those of a channel that is disabled'
if (postgresMissing !== undefined) test.skip(`${title} (${postgresMissing})`, () => undefined)
else
  test(title, async () => {
    await using upstream = await fake.startFakeUpstream()
    await using database = await newPostgresDatabase()
    const nodes: TestGateway[] = []
    for (let count = 0; count < 3; count++) nodes.push(await startTestGateway({ databaseUrl: database.url }))
    try {
      const [first] = nodes
      if (!first) throw new Error('no node was started')
      await first.setOption('ModelRatio', '{"m":1}')
      const ids = new Map<string, number>()
      for (const key of ['a', 'b', 'c', 'd', 'e', 'f'])
        ids.set(key, await first.addChannel({ key, name: key, base_url: upstream.url, models: 'm' }))
      const { token } = await first.addCaller({ user: 1e6 })
      const channelsKnown = (count: number) => () =>
        nodes.every(({ context }) => context.relay.relay.routing().candidates('default', 'm').length === count)
      const pricesKnown = () => nodes.every(({ context }) => 'm' in context.api.settings.current().ModelRatio)
      await until(channelsKnown(6))
      await until(pricesKnown)

      const placesOn = async (node: TestGateway) => {
        const found: (string | undefined)[] = []
        for (let session = 0; session < 20; session++) {
          const headers = { 'x-session-id': `session ${session}` }
          expect((await see(node.post('/v1/chat/completions', chat, token, { headers }))).status).toBe(200)
          found.push(upstream.last.key)
        }
        return found
      }
      const before = await placesOn(first)
      for (const node of nodes) expect(await placesOn(node)).toEqual(before)

      await first.api('PUT', '/api/channel/', { id: ids.get(before[0] ?? ''), status: 2 })
      await until(channelsKnown(5))
      const after = await placesOn(first)
      for (const node of nodes) expect(await placesOn(node)).toEqual(after)
      for (const [session, key] of before.entries())
        if (key === before[0]) expect(after[session]).not.toBe(key)
        else expect(after[session]).toBe(key)
    } finally {
      for (const node of nodes) await node.close()
    }
  }, 120_000)
