// Tests of channels: their history, the run that tests all of them, its progress, and its consequences.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { behaviour, okChat, status } from '../helpers/fake-upstream.ts'
import { startTestGateway } from '../helpers/test-gateway.ts'
import { type ChannelRig, json, type ShownChannel, startChannelRig } from './setup.ts'

setDefaultTimeout(120_000)

const key = 'sk-secret-key-of-the-upstream'

interface Progress {
  running: boolean
  total: number
  done: number
  failed: number
  started_at: number
  finished_at: number
}

forEachDatabaseUrl((_, freshUrl) => {
  let rig: ChannelRig
  beforeEach(async () => {
    rig = await startChannelRig(await freshUrl())
  })
  afterEach(() => rig[Symbol.asyncDispose]())

  const tests = (id: number) =>
    rig.gateway.api<{ time: number; ok: boolean; model: string; message: string }[]>('GET', `/api/channel/${id}/tests`)
  const progress = () => rig.gateway.api<Progress>('GET', '/api/channel/test/progress')
  const finished = () => rig.until(async () => (await progress()).finished_at > 0)

  test('a test reports which model it called, and what the model answered', async () => {
    const id = await rig.channel({ models: 'gpt-4o,gpt-4o-mini' })
    rig.upstream.always(okChat({ text: 'Hello there.' }))
    expect(await rig.raw('GET', `/api/channel/test/${id}?model=gpt-4o-mini`)).toEqual({
      success: true,
      message: 'Hello there.',
      time: expect.any(Number),
      modelName: 'gpt-4o-mini',
    })
  })

  test('the last twenty tests of each channel are kept, newest first', async () => {
    const id = await rig.channel({ key })
    const other = await rig.channel({ key })
    await rig.raw('GET', `/api/channel/test/${other}`)
    rig.upstream.always(json(401, { error: { message: `wrong key ${key}` } }))
    expect(await rig.raw('GET', `/api/channel/test/${id}`)).toEqual({
      success: false,
      message: 'wrong key [key]',
      time: expect.any(Number),
    })
    expect((await rig.shown(id)).test_error).toBe('wrong key [key]')
    expect((await rig.shown(other)).test_error).toBe('')
    rig.upstream.always(okChat())
    for (let count = 0; count < 20; count++) {
      rig.time.ms += 1000
      expect(await rig.raw('GET', `/api/channel/test/${id}`)).toMatchObject({ success: true })
      if (count === 18) expect((await tests(id)).at(-1)).toMatchObject({ ok: false, message: 'wrong key [key]' })
    }
    expect((await rig.shown(id)).test_error).toBe('')
    const history = await tests(id)
    expect(history).toHaveLength(20)
    expect(history[0]).toEqual({
      time: Math.floor(rig.time.ms / 1000),
      ok: true,
      model: 'm',
      message: '',
      response_time: expect.any(Number),
    } as never)
    expect(history.every((each) => each.ok)).toBe(true)
    expect(await tests(other)).toHaveLength(1)
    const { read } = rig.gateway.context.store
    expect(JSON.stringify(await read.selectFrom('logs').selectAll().execute())).not.toContain(key)
    await rig.raw('DELETE', `/api/channel/${id}`)
    expect(await read.selectFrom('channel_tests').selectAll().where('channel_id', '=', id).execute()).toEqual([])
  })

  test('deleting a channel during its test stops neither that test nor the run that tests all channels', async () => {
    const gate = Promise.withResolvers<void>()
    const waits = behaviour('waits', async (exchange) => {
      await gate.promise
      await okChat().run(exchange)
    })
    rig.upstream.forKey('slow', waits)
    const [id, other] = [await rig.channel({ key: 'slow' }), await rig.channel({ key: 'fast' })]
    const asked = rig.raw('GET', `/api/channel/test/${id}`)
    await rig.raw('GET', '/api/channel/test')
    await rig.upstream.until(({ requests }) => requests.filter((each) => each.key === 'slow').length === 2)
    await rig.raw('DELETE', `/api/channel/${id}`)
    gate.resolve()
    expect(await asked).toMatchObject({ success: true })
    await finished()
    expect(await progress()).toMatchObject({ total: 2, done: 2, failed: 0 })
    expect(await tests(other)).toHaveLength(1)
  })

  test('the run that tests all channels reports its progress, and a second run cannot start before it ends', async () => {
    const gate = Promise.withResolvers<void>()
    rig.upstream.forKey(
      'slow',
      behaviour('waits', async (exchange) => {
        await gate.promise
        await okChat().run(exchange)
      }),
    )
    rig.upstream.forKey('bad', status(500))
    for (const each of ['fast', 'bad', 'slow']) await rig.channel({ key: each })
    const off = await rig.channel({ key: 'off' })
    await rig.raw('PUT', '/api/channel/', { id: off, status: 2 })
    expect(await rig.raw('GET', '/api/channel/test')).toEqual({ success: true, message: '' })
    await rig.until(async () => (await progress()).done === 2)
    expect(await progress()).toMatchObject({ running: true, total: 3, done: 2, failed: 1, finished_at: 0 })
    expect(await rig.raw('GET', '/api/channel/test')).toMatchObject({ success: false })
    gate.resolve()
    await finished()
    expect(await progress()).toMatchObject({ running: false, total: 3, done: 3, failed: 1 })
    expect(await tests(off)).toEqual([])
    const listed = await rig.gateway.api<ShownChannel[]>('GET', '/api/channel/?sort=id&order=asc')
    expect(listed.map(({ test_error }) => test_error)).toEqual([
      '',
      'The server had an error while processing your request.',
      '',
      '',
    ])
    await rig.until(() => rig.notices().some((text) => text.includes('2 passed, 1 failed')))
    expect(await rig.raw('GET', '/api/channel/test')).toMatchObject({ success: true })
    await finished()
  })

  test('if a channel sends an endless stream without a response, its test ends and fails', async () => {
    rig.upstream.next(
      behaviour('streams', async (exchange) => {
        exchange.head(200, [['content-type', 'text/event-stream']])
        await exchange.write(': still there\n\n')
        exchange.hang()
      }),
    )
    const id = await rig.channel({ key })
    let told: unknown
    void rig.raw('GET', `/api/channel/test/${id}`).then((answer) => {
      told = answer
    })
    await rig.upstream.received(1)
    await rig.until(() => {
      rig.time.ms += 1_000
      return told !== undefined
    })
    expect(told).toMatchObject({ success: false, message: expect.stringContaining('in time') })
    await rig.upstream.until(({ openStreams }) => openStreams === 0)
  })

  test('a model’s name decides which kind of request is used to test it', async () => {
    const usage = { prompt_tokens: 1, total_tokens: 1 }
    const hello = { messages: [{ role: 'user', content: 'hi' }] }
    const chatAnswer = { choices: [{ message: { role: 'assistant', content: 'hi' } }], usage }
    const kinds = [
      ['BAAI/bge-m3', '/v1/embeddings', { input: 'hi' }, { data: [{ index: 0, embedding: [0] }], usage }],
      ['bge-reranker-v2-m3', '/v1/rerank', { query: 'hi', documents: ['hi'] }, { results: [{ index: 0 }] }],
      ['omni-moderation-latest', '/v1/moderations', { input: 'hi' }, { results: [{ flagged: false }] }],
      ['davinci-002', '/v1/completions', { prompt: 'hi', max_tokens: 1 }, { choices: [{ text: 'h' }], usage }],
      // Generating images is too expensive for a test, and some image models accept chat requests.
      ['dall-e-3', '/v1/chat/completions', hello, chatAnswer],
      // A model of a kind that can be tested cheaply is preferred.
      ['whisper-1,text-embedding-3-small', '/v1/embeddings', { input: 'hi' }, { data: [{ embedding: [0] }], usage }],
    ] as const
    for (const [models, path, question, answer] of kinds) {
      rig.upstream.always(json(200, answer))
      const id = await rig.channel({ models })
      expect(await rig.raw('GET', `/api/channel/test/${id}`)).toMatchObject({ success: true })
      const asked = rig.upstream.requests.at(-1)
      expect(asked?.path).toBe(path)
      expect(asked?.json).toEqual({ model: models.split(',').at(-1), ...question })
    }
  })

  test('a model whose name is too long for any request fails its test, and the other models are not affected', async () => {
    const id = await rig.channel({ models: `m${'x'.repeat(300)}` })
    expect(await rig.raw('GET', `/api/channel/test/${id}`)).toMatchObject({
      success: false,
      message: expect.stringContaining('256 characters'),
    })
  })

  test('a run whose process died does not block the next run forever', async () => {
    await rig.channel({ key })
    const now = Math.floor(rig.time.ms / 1000)
    await rig.gateway.context.store.write((trx) =>
      trx
        .insertInto('job_runs')
        .values({
          name: 'test-channels',
          started_at: now,
          updated_at: now,
          finished_at: 0,
          total: 5,
          done: 1,
          failed: 0,
        })
        .execute(),
    )
    expect(await progress()).toMatchObject({ running: true, total: 5, done: 1 })
    expect(await rig.raw('GET', '/api/channel/test')).toMatchObject({ success: false })
    rig.time.ms += 301_000
    expect(await progress()).toMatchObject({ running: false })
    expect(await rig.raw('GET', '/api/channel/test')).toMatchObject({ success: true })
    await finished()
  })

  test('setting ChannelTestFrequency starts a run immediately, and the next run starts when it is due', async () => {
    const id = await rig.channel({ key })
    await rig.gateway.setOption('ChannelTestFrequency', '10')
    await finished()
    expect(await tests(id)).toHaveLength(1)
    // Saving any option makes the gateway check the schedule again.
    rig.time.ms += 9 * 60_000
    await rig.gateway.setOption('SystemName', 'not due yet')
    expect(await progress()).toMatchObject({ done: 1, finished_at: expect.any(Number) })
    expect(await tests(id)).toHaveLength(1)
    rig.time.ms += 61_000
    await rig.gateway.setOption('SystemName', 'due')
    await rig.until(async () => (await tests(id)).length === 2)
    await finished()
    await rig.gateway.setOption('ChannelTestFrequency', '0')
    rig.time.ms += 3_600_000
    await rig.gateway.setOption('SystemName', 'never')
    expect(await tests(id)).toHaveLength(2)
    // A notice is sent only for a run that a user started.
    expect(rig.notices()).toEqual([])
  })

  test('a refused key disables its channel and a passed test enables it, with a notice for each', async () => {
    await rig.gateway.setOption('AutomaticDisableChannelEnabled', 'true')
    await rig.gateway.setOption('AutomaticEnableChannelEnabled', 'true')
    const id = await rig.channel({ key, name: 'main' })
    const byHand = await rig.channel({ key: 'by-hand' })
    await rig.raw('PUT', '/api/channel/', { id: byHand, status: 2 })
    rig.upstream.always(json(401, { error: { message: `wrong key ${key}` } }))
    await rig.raw('GET', '/api/channel/test')
    await finished()
    expect((await rig.shown(id)).status).toBe(3)
    await rig.until(() => rig.notices().some((text) => text.includes(`channel ${id} (main) was disabled`)))
    rig.upstream.always(okChat())
    await rig.raw('GET', '/api/channel/test')
    await rig.until(async () => (await rig.shown(id)).status === 1)
    await rig.until(() => rig.notices().some((text) => text.includes(`channel ${id} (main) was enabled`)))
    expect((await rig.shown(byHand)).status).toBe(2)
    expect(rig.notices().join()).not.toContain(key)
  })

  test('notices are sent to a webhook and to Message Pusher, each in its own format, even if one of them fails', async () => {
    const { webhook, gateway } = rig
    await gateway.setOption('MessagePusherAddress', `${webhook.url}/push`)
    await gateway.setOption('MessagePusherToken', 'pusher token')
    await gateway.setOption('NotifyWebhookURL', `${webhook.url}/notices`)
    webhook.script((request) => (request.path === '/notices' ? json(500, {}) : undefined))
    await rig.raw('GET', '/api/channel/test')
    await rig.until(() => rig.notices().length === 2)
    const [first, second] = rig.notices().map((text) => JSON.parse(text))
    const [hook, push] = 'token' in first ? [second, first] : [first, second]
    expect(push).toEqual({
      title: 'the test of all channels is done',
      description: 'the test of all channels is done',
      content: '0 passed, 0 failed.',
      token: 'pusher token',
    })
    const text = 'Tollgate: the test of all channels is done\n0 passed, 0 failed.'
    expect(hook).toEqual({ title: 'the test of all channels is done', text, content: text })
    const options = JSON.stringify(await rig.raw('GET', '/api/option/'))
    expect(options).not.toContain('pusher token')
    expect(options).not.toContain('/notices')
    expect(options).toContain('/push')
  })

  test('the address of a metadata service and an invalid address are both rejected as the target of notices', async () => {
    for (const value of ['http://169.254.169.254/x', 'ftp://example.com', '/path', 'example.com']) {
      for (const name of ['NotifyWebhookURL', 'MessagePusherAddress']) {
        expect(await rig.raw('PUT', '/api/option/', { key: name, value })).toMatchObject({ success: false })
      }
    }
    expect(await rig.raw('PUT', '/api/option/', { key: 'NotifyWebhookURL', value: '' })).toMatchObject({
      success: true,
    })
  })

  test('a channel whose key is replaced during its test is not disabled because of the old key', async () => {
    await rig.gateway.setOption('AutomaticDisableChannelEnabled', 'true')
    const id = await rig.channel({ key })
    const gate = Promise.withResolvers<void>()
    const refused = json(401, { error: { message: 'wrong key' } })
    rig.upstream.always(behaviour('refuses late', (exchange) => gate.promise.then(() => refused.run(exchange))))
    await rig.raw('GET', '/api/channel/test')
    await rig.upstream.until(({ requests }) => requests.length === 1)
    await rig.raw('PUT', '/api/channel/', { id, key: 'sk-new-key-of-the-upstream' })
    gate.resolve()
    await finished()
    expect((await rig.shown(id)).status).toBe(1)
    await rig.raw('GET', '/api/channel/test')
    await rig.until(async () => (await rig.shown(id)).status === 3)
  })

  test('a gateway that stops in the middle of a run does not block the next run', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-'))
    const url = await freshUrl()
    const start = () =>
      startTestGateway({ env: { DATA_DIR: folder }, ...(url.startsWith('postgres') && { databaseUrl: url }) })
    const first = await start()
    const gate = Promise.withResolvers<void>()
    rig.upstream.always(behaviour('waits', (exchange) => gate.promise.then(() => okChat().run(exchange))))
    for (let count = 0; count < 6; count++) await first.addChannel({ base_url: rig.upstream.url })
    await first.api('GET', '/api/channel/test')
    await rig.upstream.until(({ requests }) => requests.length > 0)
    await first.close()
    const second = await start()
    try {
      expect(await second.api<Progress>('GET', '/api/channel/test/progress')).toMatchObject({
        running: false,
        total: 6,
      })
      await second.api('GET', '/api/channel/test')
    } finally {
      gate.resolve()
      await second.close()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
