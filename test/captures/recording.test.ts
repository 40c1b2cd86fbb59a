import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Capture, CaptureRule, OwnCapture } from '../../contract/api/capture.ts'
import type { CapturePlace } from '../../server/store/schema/capture-tables.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { type FakeUpstream, okChat, okStream, startFakeUpstream, status } from '../helpers/fake-upstream.ts'
import { startTestGateway, type TestGateway } from '../helpers/test-gateway.ts'

const hour = 3600
const channelKey = 'sk-channel-key-0123456789abcdefghijklmnop'

forEachDatabaseUrl((name, freshUrl) => {
  let upstream: FakeUpstream
  let gate: TestGateway
  let channelId: number

  beforeAll(async () => {
    upstream = await startFakeUpstream()
    gate = await startTestGateway(name === 'postgres' ? { databaseUrl: await freshUrl() } : {})
    channelId = await gate.addChannel({ base_url: upstream.url, key: channelKey, name: 'first' })
  })
  afterAll(async () => {
    await gate.close()
    await upstream[Symbol.asyncDispose]()
  })

  const now = () => Math.floor(Date.now() / 1000)
  const begin = (rule: Partial<CaptureRule>) =>
    gate.api<CaptureRule>('POST', '/api/capture/rule/', { until: now() + hour, ...rule })
  const end = (id: number) => gate.api<CaptureRule>('POST', `/api/capture/rule/${id}/end`)
  const read = (id: string) => gate.api<Capture | null>('GET', `/api/capture/${id}`)
  const kept = (id: string) =>
    eventually(async () => {
      const capture = await read(id)
      if (!capture) throw new Error(`${id} is not stored yet`)
      return capture
    })
  const ask = async (token: string, text: string, more: object = {}) => {
    const response = await gate.post(
      '/v1/chat/completions',
      { model: 'gpt-4o', messages: [{ role: 'user', content: text }], ...more },
      token,
    )
    const answer = await response.text()
    return { id: response.headers.get('x-oneapi-request-id') ?? '', answer, response }
  }
  const folder = () => join(gate.config.dataDir, 'captures')
  /** The contents of all files in the data folder. */
  const onDisk = () => {
    const names = readdirSync(gate.config.dataDir, { recursive: true, encoding: 'utf8' })
    const paths = names.map((each) => join(gate.config.dataDir, each)).filter((path) => statSync(path).isFile())
    return paths.map((path) => readFileSync(path, 'latin1')).join('\n')
  }
  const captureFiles = () =>
    readdirSync(folder(), { recursive: true, encoding: 'utf8' }).filter((each) => each.endsWith('.capture'))

  describe(name, () => {
    test('the users, tokens and channels to record can be searched by a part of their name, by their owner and by id', async () => {
      const choices = (query: string) =>
        gate.api<{ id: number; name: string; detail: string }[]>('GET', `/api/capture/choices?${query}`)
      const { userId, tokenId: id } = await gate.addCaller({ user: 1 }, { name: 'laptop_1' })
      await gate.api('PUT', '/api/user/', { id: userId, username: 'margaret', display_name: 'Maggie' })
      const user = { id: userId, name: 'margaret', detail: 'Maggie' }
      for (const keyword of ['ARGA', 'agg']) expect(await choices(`target=user&keyword=${keyword}`)).toEqual([user])
      const token = { id, name: 'laptop_1', detail: 'margaret' }
      for (const query of ['keyword=PTOP_', 'keyword=garet', `keyword=${id}`, `id=${id}`])
        expect([query, await choices(`target=token&${query}`)]).toEqual([query, expect.arrayContaining([token])])
      expect(await choices(`target=channel&id=${channelId}`)).toEqual([{ id: channelId, name: 'first', detail: '' }])
      for (const keyword of ['%', '_x', "' or 1=1 --", '\\'])
        expect([keyword, await choices(`target=user&keyword=${encodeURIComponent(keyword)}`)]).toEqual([keyword, []])
    })

    test('a recording contains the caller’s request and the upstream’s, both without the channel key and the token', async () => {
      const caller = await gate.addCaller({ user: 1e6 })
      const rule = await begin({ target: 'user', target_id: caller.userId })
      upstream.next(okChat({ text: `Paris, of course. Some services echo ${channelKey}` }))
      const { id, answer } = await ask(caller.token, `capital of France? my token is ${caller.token}`, {
        stream: false,
        user: 'someone',
      })
      expect(answer).toContain('Paris, of course')
      const capture = await kept(id)
      expect(capture).toMatchObject({ user_id: caller.userId, token_id: caller.tokenId, path: '/v1/chat/completions' })
      expect(capture.request.turns).toEqual([
        { role: 'user', parts: [{ type: 'text', text: 'capital of France? my token is [key]', name: '' }] },
      ])
      expect(capture.response.turns[0]?.parts[0]?.text).toStartWith('Paris, of course. Some services echo [key]')
      const last = capture.attempts.at(-1)
      expect(last).toMatchObject({ channel_id: channelId, channel_name: 'first', status: 200, dialect: 'openai-chat' })
      expect(last?.request.turns[0]?.parts[0]?.text).toContain('capital of France?')
      expect(last?.response.turns[0]?.parts[0]?.text).toStartWith('Paris, of course')
      const whole = JSON.stringify(capture)
      for (const key of [channelKey, caller.token, caller.token.slice(3)]) expect(whole).not.toContain(key)
      expect(whole).not.toMatch(/authorization|cookie/i)
      await end(rule.id)
    })

    test('a stored recording can be read neither on disk nor in the database', async () => {
      const caller = await gate.addCaller({ user: 1e6 })
      const rule = await begin({ target: 'token', target_id: caller.tokenId })
      upstream.next(okChat({ text: 'zanzibar-answer' }))
      const { id } = await ask(caller.token, 'zanzibar-question')
      await kept(id)
      expect(onDisk()).not.toContain('zanzibar')
      expect(captureFiles().some((each) => each.includes(id))).toBe(true)
      const path = join(folder(), captureFiles().find((each) => each.includes(id)) ?? '')
      expect(statSync(path).mode & 0o077).toBe(0)
      await end(rule.id)
    })

    test('an encrypted recording that is moved to another id cannot be read', async () => {
      const caller = await gate.addCaller({ user: 1e6 })
      const rule = await begin({ target: 'user', target_id: caller.userId })
      upstream.next(okChat({ text: 'one' }), okChat({ text: 'two' }))
      const one = await ask(caller.token, 'first')
      const two = await ask(caller.token, 'second')
      await kept(one.id)
      await kept(two.id)
      const pathOf = (id: string) => join(folder(), captureFiles().find((each) => each.includes(id)) ?? '')
      writeFileSync(pathOf(one.id), readFileSync(pathOf(two.id)))
      await expect(read(one.id)).rejects.toThrow('cannot be read')
      await end(rule.id)
    })

    test('a file on another node is not reported as missing: the response names the node', async () => {
      const caller = await gate.addCaller({ user: 1e6 })
      const rule = await begin({ target: 'user', target_id: caller.userId })
      upstream.next(okChat({ text: 'one' }))
      const { id } = await ask(caller.token, 'first')
      await kept(id)
      const { write } = gate.context.store
      const moveTo = (place: CapturePlace) =>
        write((trx) => trx.updateTable('captures').set({ place }).where('request_id', '=', id).execute())
      await moveTo('files:gate-2')
      // If both nodes use the same folder, the other node can read the file.
      expect(await read(id)).toMatchObject({ request_id: id })
      const path = join(folder(), captureFiles().find((each) => each.includes(id)) ?? '')
      rmSync(path)
      await expect(read(id)).rejects.toThrow('This recording is a file on the node gate-2, and can be read only there.')
      await gate.api('DELETE', `/api/user/${caller.userId}`)
      expect(await read(id)).toBeNull()
      await end(rule.id).catch(() => undefined)
    })

    test('a request that no rule selects is not recorded', async () => {
      const caller = await gate.addCaller({ user: 1e6 })
      const other = await gate.addCaller({ user: 1e6 })
      const rule = await begin({ target: 'user', target_id: other.userId })
      upstream.next(okChat({ text: 'kilimanjaro-answer' }))
      const { id } = await ask(caller.token, 'kilimanjaro-question')
      await gate.context.api.captures.close()
      expect(await read(id)).toBe(null)
      expect(captureFiles().some((each) => each.includes(id))).toBe(false)
      expect(onDisk()).not.toContain('kilimanjaro')
      await end(rule.id)
      upstream.next(okChat({ text: 'after the end' }))
      const late = await ask(other.token, 'after the end')
      await gate.context.api.captures.close()
      expect(await read(late.id)).toBe(null)
    })

    test('a stream is recorded while it is passed on, and the caller gets it unchanged', async () => {
      const caller = await gate.addCaller({ user: 1e6 })
      const rule = await begin({ target: 'user', target_id: caller.userId })
      upstream.next(okStream({ text: 'one two three four' }))
      const { id, answer } = await ask(caller.token, 'count', { stream: true })
      const capture = await kept(id)
      expect(capture.response).toMatchObject({ text: answer, truncated: false, size: answer.length })
      expect(capture.response.turns[0]?.parts[0]?.text).toBe('one two three four')
      expect(capture.attempts[0]?.response.turns[0]?.parts[0]?.text).toBe('one two three four')
      // The gateway adds a request for usage, because the caller did not request it.
      expect(capture.attempts[0]?.request.text).toContain('include_usage')
      expect(capture.request.text).not.toContain('include_usage')
      await end(rule.id)
    })

    test('redactions remove texts wherever they are, even if a stream divides them', async () => {
      const caller = await gate.addCaller({ user: 1e6 })
      const redactions = ['@email', 'Zoë*']
      const rule = await begin({ target: 'user', target_id: caller.userId, redactions })
      upstream.next(okStream({ text: 'Dear Zoëlla, I wrote to zoe@example.com' }))
      const { id } = await ask(caller.token, 'Zoë is at zoe@example.com', { stream: true })
      const capture = await kept(id)
      const whole = JSON.stringify(capture)
      expect(whole).not.toContain('example.com')
      expect(whole).not.toContain('Zoë')
      expect(capture.response.turns[0]?.parts[0]?.text).toBe('Dear [redacted], I wrote to [redacted]')
      expect(capture.request.turns[0]?.parts[0]?.text).toBe('[redacted] is at [redacted]')
      await end(rule.id)
    })

    test('a long body is truncated and marked', async () => {
      const caller = await gate.addCaller({ user: 1e7 })
      const rule = await begin({ target: 'user', target_id: caller.userId, size_limit: 1024 })
      upstream.next(okChat({ text: 'short' }))
      const { id } = await ask(caller.token, 'x'.repeat(5000))
      const capture = await kept(id)
      expect(capture.request).toMatchObject({ truncated: true, turns: [] })
      expect(capture.request.text).toHaveLength(1024)
      expect(capture.request.size).toBeGreaterThan(5000)
      expect(capture.response.truncated).toBe(false)
      await end(rule.id)
    })

    test('a rule for a channel records only what is sent to that channel', async () => {
      await using second = await startFakeUpstream()
      const other = await gate.addChannel({ base_url: second.url, models: 'other-model', name: 'second' })
      await gate.setOption('ModelRatio', '{"other-model":1}')
      const caller = await gate.addCaller({ user: 1e6 })
      const rule = await begin({ target: 'channel', target_id: other })
      upstream.next(okChat({ text: 'not this' }))
      second.next(okChat({ text: 'but this' }))
      const passed = await ask(caller.token, 'hello')
      const { id } = await ask(caller.token, 'hello', { model: 'other-model' })
      const capture = await kept(id)
      expect(capture.attempts.map(({ channel_id }) => channel_id)).toEqual([other])
      await gate.context.api.captures.close()
      expect(await read(passed.id)).toBe(null)
      await end(rule.id)
    })

    test('a translated Anthropic request is recorded in both dialects', async () => {
      const caller = await gate.addCaller({ user: 1e6 })
      const rule = await begin({ target: 'token', target_id: caller.tokenId })
      upstream.next(okChat({ text: 'Bonjour' }))
      const response = await fetch(`${gate.url}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': caller.token, 'anthropic-version': '2023-06-01', cookie: 'session=secret-cookie' },
        body: JSON.stringify({
          model: 'gpt-4o',
          max_tokens: 100,
          system: 'Be brief.',
          messages: [{ role: 'user', content: 'Say hello in French' }],
        }),
      })
      await response.text()
      const capture = await kept(response.headers.get('x-oneapi-request-id') ?? '')
      expect(capture.dialect).toBe('anthropic-messages')
      expect(capture.request.turns.map(({ role }) => role)).toEqual(['system', 'user'])
      expect(capture.attempts[0]).toMatchObject({ dialect: 'openai-chat' })
      expect(capture.attempts[0]?.request.turns.map(({ role }) => role)).toEqual(['system', 'user'])
      expect(capture.response.turns[0]?.parts[0]?.text).toBe('Bonjour')
      expect(capture.headers).toContainEqual({ name: 'anthropic-version', value: '2023-06-01' })
      expect(JSON.stringify(capture)).not.toContain('secret-cookie')
      expect(JSON.stringify(capture)).not.toContain(caller.token)
      await end(rule.id)
    })

    test('a failed call is recorded', async () => {
      const caller = await gate.addCaller({ user: 1e6 })
      const rule = await begin({ target: 'user', target_id: caller.userId })
      upstream.next(status(400, { message: `no such parameter; key ${channelKey}` }))
      const { id, response } = await ask(caller.token, 'hello')
      expect(response.status).toBe(400)
      const capture = await kept(id)
      expect(capture).toMatchObject({ status: 400 })
      expect(capture.attempts[0]).toMatchObject({ status: 400 })
      expect(capture.attempts[0]?.response.text).toContain('no such parameter')
      expect(capture.response.text).toContain('no such parameter')
      expect(JSON.stringify(capture)).not.toContain(channelKey.slice(0, 20))
      await end(rule.id)
    })

    test.each(['token', 'user'] as const)('deleting a %s deletes its recordings', async (kind) => {
      const caller = await gate.addCaller({ user: 1e6 })
      const rule = await begin({ target: 'user', target_id: caller.userId })
      const ofToken = await begin({ target: 'token', target_id: caller.tokenId })
      upstream.next(okChat({ text: 'soon gone' }))
      const { id } = await ask(caller.token, 'soon gone')
      await kept(id)
      if (kind === 'user') await gate.api('DELETE', `/api/user/${caller.userId}`)
      else await deleteToken(gate, caller)
      expect(await read(id)).toBe(null)
      await eventually(async () => expect(captureFiles().some((each) => each.includes(id))).toBe(false))
      const rules = await gate.api<CaptureRule[]>('GET', '/api/capture/rule/')
      expect(rules.some((each) => each.id === ofToken.id)).toBe(false)
      expect(rules.some((each) => each.id === rule.id)).toBe(kind === 'token')
      if (kind === 'token') await end(rule.id)
    })

    test('rows and files older than the retention period are deleted', async () => {
      const caller = await gate.addCaller({ user: 1e6 })
      const rule = await begin({ target: 'user', target_id: caller.userId })
      upstream.next(okChat({ text: 'old' }), okChat({ text: 'new' }))
      const old = await ask(caller.token, 'old')
      const recent = await ask(caller.token, 'new')
      await kept(old.id)
      await kept(recent.id)
      await gate.context.store.write((trx) =>
        trx
          .updateTable('captures')
          .set({ created_at: now() - 8 * 86_400 })
          .where('request_id', '=', old.id)
          .execute(),
      )
      await gate.context.api.captures.sweep()
      expect(await read(old.id)).toBe(null)
      expect(captureFiles().some((each) => each.includes(old.id))).toBe(false)
      expect(captureFiles().some((each) => each.includes(recent.id))).toBe(true)
      await end(rule.id)
    })

    test('users see that they are being recorded, and the audit log shows who started, read and ended a recording', async () => {
      const caller = await gate.addCaller({ user: 1e6 })
      const access = 'an-access-token-of-the-caller-0001'
      const { secrets } = gate.context.api
      await gate.context.store.write((trx) =>
        trx
          .updateTable('users')
          .set({ access_token_hash: secrets.fingerprint(`${access}-${name}`, 'access-token') })
          .where('id', '=', caller.userId)
          .execute(),
      )
      const own = async () => {
        const response = await fetch(`${gate.url}/api/capture/self`, {
          headers: { authorization: `${access}-${name}` },
        })
        return ((await response.json()) as { data: OwnCapture }).data
      }
      expect(await own()).toEqual({ until: 0, some_until: 0, tokens: [] })
      const rule = await begin({ target: 'token', target_id: caller.tokenId })
      expect(await own()).toEqual({ until: 0, some_until: 0, tokens: [{ id: caller.tokenId, until: rule.until }] })
      const ofUser = await begin({ target: 'user', target_id: caller.userId })
      expect(await own()).toMatchObject({ until: ofUser.until })
      upstream.next(okChat({ text: 'seen' }))
      const { id } = await ask(caller.token, 'seen')
      await kept(id)
      await end(rule.id)
      await end(ofUser.id)
      expect(await own()).toEqual({ until: 0, some_until: 0, tokens: [] })
      const events = await gate.api<{ action: string; target: string; actor_name: string }[]>(
        'GET',
        '/api/audit/?action=capture.&size=50',
      )
      expect(events).toContainEqual(expect.objectContaining({ action: 'capture.read', target: `request ${id}` }))
      expect(events).toContainEqual(
        expect.objectContaining({ action: 'capture.start', target: `token ${caller.tokenId}`, actor_name: 'root' }),
      )
      expect(events).toContainEqual(expect.objectContaining({ action: 'capture.end', target: `user ${caller.userId}` }))
    })

    test('a call succeeds even if its recording cannot be stored', async () => {
      const caller = await gate.addCaller({ user: 1e6 })
      const rule = await begin({ target: 'user', target_id: caller.userId })
      await gate.setOption('S3Endpoint', 'http://127.0.0.1:9')
      await gate.setOption('S3Bucket', 'no-such-bucket')
      await gate.setOption('CaptureStore', 's3')
      upstream.next(okChat({ text: 'still fine' }))
      const { id, answer } = await ask(caller.token, 'hello')
      expect(answer).toContain('still fine')
      await gate.context.api.captures.close()
      expect(await read(id)).toBe(null)
      expect(await gate.context.metrics.text()).toMatch(/tollgate_recordings_lost_total [1-9]/)
      await expect(begin({ target: 'user', target_id: caller.userId })).rejects.toThrow('cannot be stored')
      await gate.setOption('CaptureStore', 'files')
      await end(rule.id)
    })
  })
})

/** Repeats an attempt until it does not throw. */
async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  const untilMs = performance.now() + 10_000
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (performance.now() > untilMs) throw error
      await setTimeout(10)
    }
  }
}

/** Deletes the caller's token as the caller's own account would. */
async function deleteToken(gate: TestGateway, { userId, tokenId }: { userId: number; tokenId: number }): Promise<void> {
  const access = `access-token-for-deletion-${tokenId}`
  const { secrets } = gate.context.api
  await gate.context.store.write((trx) =>
    trx
      .updateTable('users')
      .set({ access_token_hash: secrets.fingerprint(access, 'access-token') })
      .where('id', '=', userId)
      .execute(),
  )
  const response = await fetch(`${gate.url}/api/token/${tokenId}`, {
    method: 'DELETE',
    headers: { authorization: access },
  })
  expect(((await response.json()) as { success: boolean }).success).toBe(true)
}
