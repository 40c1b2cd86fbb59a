// While a channel is draining, its sessions stay on it for up to a day. New sessions begin on other channels and stay
// on these channels.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { startTestGateway } from '../helpers/test-gateway.ts'
import { type Caller, callerCalls, callers, type Rig, see, startRelayRig } from './setup.ts'

const dayMs = 24 * 3_600_000

forEachDatabaseUrl((name, freshUrl) => {
  let rig: Rig
  let url = ''
  let aheadMs = 0
  const clock = { nowMs: () => Date.now() + aheadMs }
  beforeAll(async () => {
    url = await freshUrl()
    const databaseUrl = name === 'postgres' ? { databaseUrl: url } : {}
    rig = await startRelayRig({ channels: false, ...databaseUrl, clock })
  }, 120_000)
  afterAll(() => rig[Symbol.asyncDispose]())
  beforeEach(async () => {
    aheadMs += 60_000
    await rig.clear({ ChannelAffinity: 'on', RetryTimes: '1', AutomaticDisableChannelEnabled: 'false' })
  })

  const drain = (id: number, draining = true) => rig.gateway.api('PUT', '/api/channel/', { id, draining })
  const user = { role: 'user', content: 'Hi' }
  const again = [user, { role: 'assistant', content: 'Hello.' }, user]
  async function ask(caller: Caller, session: string, messages: object[], gateway = rig.gateway) {
    const headers = { 'x-session-id': session }
    const seen = await see(gateway.post('/v1/chat/completions', { model: 'm', messages }, caller.token, { headers }))
    return seen.status === 200 ? (rig.upstream.last.key ?? '') : `status ${seen.status}`
  }
  const names = Array.from({ length: 16 }, (_, index) => `session ${index}`)
  /** Two channels, and a caller with sessions at both of them. */
  async function homes() {
    const a = await rig.channel({ key: 'key-a' })
    await rig.channel({ key: 'key-b' })
    const caller = await rig.caller()
    const home = new Map<string, string>()
    for (const session of names) home.set(session, await ask(caller, session, [user]))
    const ofA = names.filter((session) => home.get(session) === 'key-a')
    expect(ofA.length).toBeGreaterThan(2)
    expect(ofA.length).toBeLessThan(names.length)
    return { a, caller, home, ofA }
  }

  describe(`a drained channel (${name})`, () => {
    test('keeps its sessions and gets no new ones', async () => {
      const { a, caller, home } = await homes()
      await drain(a)
      for (const session of names) expect(await ask(caller, session, again)).toBe(home.get(session) ?? '')
      const begun = names.map((session) => `new ${session}`)
      for (const session of begun) expect(await ask(caller, session, [user])).toBe('key-b')
      // The new sessions stay on the channel on which they began, although the hash of some of them selects the
      // draining channel.
      for (const session of begun) expect(await ask(caller, session, again)).toBe('key-b')
      await drain(a, false)
      const back = new Set<string>()
      for (const session of begun) back.add(await ask(caller, session, again))
      expect(back).toEqual(new Set(['key-a', 'key-b']))
      const rows = await rig.gateway.context.store.read.selectFrom('drain_sessions').selectAll().execute()
      expect(rows).toEqual([])
    })

    test('gets no sessions of channels that fail, and loses its own sessions when it fails', async () => {
      const { a, caller, home, ofA } = await homes()
      await drain(a)
      rig.upstream.forKey('key-b', fake.status(503))
      for (const session of names)
        expect(await ask(caller, session, again)).toBe(home.get(session) === 'key-a' ? 'key-a' : 'status 503')
      rig.upstream.forKey('key-b', fake.ok())
      rig.upstream.forKey('key-a', fake.status(503))
      aheadMs += 60_000
      expect(await ask(caller, ofA[0] ?? '', again)).toBe('key-b')
    })

    test('keeps its sessions for a day', async () => {
      const { a, caller, ofA } = await homes()
      await drain(a)
      aheadMs += dayMs - 5_000
      expect(await ask(caller, ofA[0] ?? '', again)).toBe('key-a')
      aheadMs += 6_000
      expect(await ask(caller, ofA[0] ?? '', again)).toBe('key-b')
    })

    test('continues its sessions and gets no new ones, even if it is the only channel for its model', async () => {
      const a = await rig.channel({ key: 'key-a' })
      const caller = await rig.caller()
      await drain(a)
      expect(await ask(caller, 'old', again)).toBe('key-a')
      expect(await ask(caller, 'new', [user])).toBe('status 503')
      expect(await ask(caller, 'new', again)).toBe('status 503')
    })

    test('recognises conversations that have already begun, in every dialect', async () => {
      const a = await rig.channel({ key: 'key-a' })
      const caller = await rig.caller()
      await drain(a)
      const turns = {
        chat: { messages: again },
        messages: { messages: again },
        responses: { input: [user, { role: 'assistant', content: 'Hello.' }, user] },
        gemini: {
          contents: [
            { role: 'user', parts: [{ text: 'Hi' }] },
            { role: 'model', parts: [{ text: 'Hello.' }] },
            { role: 'user', parts: [{ text: 'Hi' }] },
          ],
        },
      }
      for (const each of callers) {
        const { path, body } = callerCalls[each]
        const post = (more: object, session: string) =>
          see(rig.gateway.post(path, { ...body, ...more }, caller.token, { headers: { 'x-session-id': session } }))
        expect([each, (await post({}, `new ${each}`)).status]).toEqual([each, 503])
        expect([each, (await post(turns[each], `old ${each}`)).status]).toEqual([each, 200])
      }
      const call = { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' }
      const result = { type: 'function_call_output', call_id: 'c', output: 'Seen.' }
      const asked = { model: 'm', input: [user, call, result] }
      const headers = { 'x-session-id': 'tools' }
      expect((await see(rig.gateway.post('/v1/responses', asked, caller.token, { headers }))).status).toBe(200)
    })

    const ofSeveralNodes = name === 'postgres' ? test : () => undefined
    ofSeveralNodes('is the same for all nodes', async () => {
      const { a, caller, ofA } = await homes()
      await drain(a)
      const other = await startTestGateway({ databaseUrl: url, clock })
      try {
        expect(await ask(caller, ofA[0] ?? '', again, other)).toBe('key-a')
        for (const session of names) expect(await ask(caller, `new ${session}`, [user])).toBe('key-b')
        for (const session of names) expect(await ask(caller, `new ${session}`, again, other)).toBe('key-b')
      } finally {
        await other.close()
      }
    })
  })
})
