import { afterEach, beforeEach, expect, test } from 'bun:test'
import { logRow } from '../../../test/helpers/accounts.ts'
import { cookieOf, createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabaseUrl } from '../../../test/helpers/databases.ts'
import { createLogTail } from '../../jobs/log-tail.ts'
import { hashPassword } from '../../lib/secrets/password.ts'
import { openStore } from '../../store/connection/open.ts'
import { migrate } from '../../store/migrations/migrate.ts'
import type { Store } from '../../store/store.ts'

const password = 'correct horse'
const hash = await hashPassword(password)

/** Reads the events of a stream one after the other. Comments are skipped unless they are requested. */
class EventReader {
  readonly #chunks: AsyncIterator<Uint8Array>
  #text = ''

  constructor(response: Response) {
    if (!response.body) throw new Error('no body')
    this.#chunks = response.body[Symbol.asyncIterator]()
  }

  /** The next event that is not a comment, or undefined at the end. */
  async next(): Promise<{ id?: string; event?: string; data: Record<string, unknown> } | undefined> {
    for (;;) {
      const block = await this.block()
      if (block === undefined) return undefined
      const fields = new Map(
        block.split('\n').map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
      )
      const [id, event, data] = [fields.get('id'), fields.get('event'), fields.get('data')]
      if (data !== undefined) return { ...(id && { id }), ...(event && { event }), data: JSON.parse(data) }
    }
  }

  /** Everything up to the next blank line. */
  async block(): Promise<string | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end >= 0) {
        const block = this.#text.slice(0, end)
        this.#text = this.#text.slice(end + 2)
        return block
      }
      const { done, value } = await this.#chunks.next()
      if (done) return undefined
      this.#text += new TextDecoder().decode(value)
    }
  }

  async close(): Promise<void> {
    await this.#chunks.return?.()
  }
}

forEachDatabaseUrl((name, freshUrl) => {
  let url: string
  let api: TestApi
  let admin: Awaited<ReturnType<TestApi['addPerson']>>
  let ada: typeof admin

  beforeEach(async () => {
    url = await freshUrl()
    const store = openStore({ url })
    await migrate(store)
    api = await createTestApi(store)
    admin = await api.addPerson({ username: 'admin', role: 10 })
    ada = await api.addPerson({ username: 'ada', password: hash })
  })
  afterEach(() => api.store.close())

  const add = (fields: object = {}, store: Store = api.store) =>
    store.write((trx) =>
      trx
        .insertInto('logs')
        .values({ ...logRow({ userId: ada.id, tokenId: 1, channelId: 7 }), username: 'ada', quota: 1, ...fields })
        .execute(),
    )
  const request = (path: string, headers: Record<string, string>) =>
    api.app.request(`/api/log/${path}`, { headers }, { socketAddress: '203.0.113.9' })
  const open = async (path: string, as = admin, headers: Record<string, string> = {}) => {
    const response = await request(path, { authorization: as.token, ...headers })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    return new EventReader(response)
  }

  test('rows are sent as they are written, each once; earlier rows are not sent', async () => {
    await add({ quota: 1 })
    const events = await open('stream')
    await add({ quota: 2 })
    await add({ quota: 3, type: 4 })
    const [first, second] = [await events.next(), await events.next()]
    expect(first?.data).toMatchObject({ quota: 2, username: 'ada', channel: 7, is_stream: false })
    expect(first?.id).toBe(String(first?.data.id))
    expect(second?.data).toMatchObject({ quota: 3, type: 4 })
    await events.close()
  })

  test('the stream accepts the filters of the list', async () => {
    const events = await open('stream?model_name=gpt-4o&token_name=t%25&type=2&username=ada&channel=7')
    for (const other of [
      { model_name: 'gpt-4' },
      { token_name: 'tx' },
      { type: 1 },
      { username: 'bob' },
      { channel_id: 8 },
    ]) {
      await add({ token_name: 't%', ...other })
    }
    await add({ token_name: 't%', quota: 9 })
    expect((await events.next())?.data).toMatchObject({ quota: 9 })
    await events.close()
  })

  test("a group filter uses the group that the row's user has when the row is sent", async () => {
    await api.store.write((trx) => trx.updateTable('users').set({ group: 'vip' }).where('id', '=', ada.id).execute())
    const events = await open('stream?not_group=default')
    await add({ quota: 2, user_id: admin.id })
    await add({ quota: 3 })
    expect((await events.next())?.data).toMatchObject({ quota: 3 })
    await events.close()
  })

  test("projects are the tokens' projects at the time when a row is sent", async () => {
    const body = { name: 'own', project: 'Web', unlimited_quota: true }
    const created = (await api.call('POST', '/api/token/', { as: ada.token, body })).json as { data: { id: number } }
    const events = await open('stream?project=Web')
    await add({ quota: 2, token_id: 999 })
    await add({ quota: 3, token_id: created.data.id })
    expect((await events.next())?.data).toMatchObject({ quota: 3 })
    await events.close()
  })

  test('people see only their own rows, and not which channel served them', async () => {
    const events = await open('self/stream?username=admin&channel=3', ada)
    await add({ user_id: admin.id, username: 'admin' })
    await add({ quota: 5, attempts: '[7]' })
    expect((await events.next())?.data).toMatchObject({ user_id: ada.id, quota: 5, channel: 0, attempts: '' })
    await events.close()
    const refused = await request('stream', { authorization: ada.token })
    expect(((await refused.json()) as { success: boolean }).success).toBe(false)
    expect((await request('self/stream', {})).status).toBe(401)
  })

  test('a reader who reconnects gets the missed rows', async () => {
    await add({ quota: 1 })
    const newest = await api.store.read.selectFrom('logs').select('id').executeTakeFirstOrThrow()
    await add({ quota: 2 })
    await add({ quota: 3, user_id: admin.id })
    await add({ quota: 4 })
    const events = await open('self/stream', ada, { 'last-event-id': String(newest.id) })
    expect((await events.next())?.data).toMatchObject({ quota: 2 })
    expect((await events.next())?.data).toMatchObject({ quota: 4 })
    await add({ quota: 5 })
    expect((await events.next())?.data).toMatchObject({ quota: 5 })
    await events.close()
  })

  test('each person can have four streams at a time, and closing one frees a slot', async () => {
    const streams = [await open('self/stream', ada), await open('self/stream', ada), await open('self/stream', ada)]
    streams.push(await open('self/stream?type=2', ada))
    expect((await request('self/stream', { authorization: ada.token })).status).toBe(429)
    await (await open('self/stream', admin)).close()
    await streams[0]?.close()
    await (await open('self/stream', ada)).close()
    for (const each of streams.slice(1)) await each.close()
  })

  test('a HEAD request does not count as a stream', async () => {
    for (let times = 0; times < 5; times++) {
      const headers = { authorization: ada.token }
      const answer = await api.app.request('/api/log/self/stream', { method: 'HEAD', headers })
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    }
    await (await open('self/stream', ada)).close()
  })

  test('a ban ends the stream at the next row, which is not sent', async () => {
    const events = await open('self/stream', ada)
    await add({ quota: 1 })
    expect((await events.next())?.data).toMatchObject({ quota: 1 })
    await api.store.write((trx) => trx.updateTable('users').set({ status: 2 }).where('id', '=', ada.id).execute())
    await add({ quota: 2 })
    expect(await events.next()).toEqual({ event: 'end', data: { reason: 'not-allowed' } })
    expect(await events.next()).toBeUndefined()
  })

  test("a change to a lower role ends the stream of everybody's rows", async () => {
    const events = await open('stream')
    await api.store.write((trx) => trx.updateTable('users').set({ role: 1 }).where('id', '=', admin.id).execute())
    await add()
    expect(await events.next()).toEqual({ event: 'end', data: { reason: 'not-allowed' } })
  })

  test('a logout ends the stream', async () => {
    const cookie = cookieOf(await api.call('POST', '/api/user/login', { body: { username: 'ada', password } }))
    const events = new EventReader(await request('self/stream', { cookie }))
    await api.call('GET', '/api/user/logout', { cookie })
    await add()
    expect(await events.next()).toEqual({ event: 'end', data: { reason: 'not-allowed' } })
  })

  test('a node that shuts down sends its readers the reason why the stream ends', async () => {
    const events = await open('stream')
    api.logTail.close()
    expect(await events.next()).toEqual({ event: 'end', data: { reason: 'shutting-down' } })
    expect(await events.next()).toBeUndefined()
  })

  test('a client that does not read its stream is asked to reconnect, and only a limited number of rows is kept for it', async () => {
    const response = await request('stream', { authorization: admin.token })
    for (let step = 0; step < 12; step++) {
      const rows = Array.from({ length: 100 }, () => ({
        ...logRow({ userId: ada.id, tokenId: 1, channelId: 7 }),
        quota: 1,
      }))
      await api.store.write((trx) => trx.insertInto('logs').values(rows).execute())
    }
    // When the second reader has received this row, all earlier rows have been sent to the first reader, too.
    const other = await open('stream')
    await add({ quota: 77 })
    while ((await other.next())?.data.quota !== 77);
    await other.close()
    const text = await response.text()
    expect(text).toContain('event: end\ndata: {"reason":"too-slow"}')
    expect(text.match(/^id: /gm)?.length).toBeLessThanOrEqual(1000)
  })

  test('an idle stream sends keep-alives until its reader loses the right to read', async () => {
    const warn = (message: string) => void api.warnings.push(message)
    const logTail = createLogTail(api.store, warn, { everyMs: 5, heartbeatMs: 5 })
    const quick = await createTestApi(api.store, { logTail })
    const response = await quick.app.request('/api/log/self/stream', { headers: { authorization: ada.token } })
    const events = new EventReader(response)
    expect(await events.block()).toContain('retry: ')
    expect(await events.block()).toBe(': still here')
    expect(await events.block()).toBe(': still here')
    await api.store.write((trx) => trx.updateTable('users').set({ status: 2 }).where('id', '=', ada.id).execute())
    expect(await events.next()).toEqual({ event: 'end', data: { reason: 'not-allowed' } })
  })

  if (name === 'postgres') {
    test('rows written by other nodes are sent too, even if a row with a lower number is committed later', async () => {
      const other = openStore({ url })
      try {
        const events = await open('stream')
        const mayCommit = Promise.withResolvers<void>()
        const isOpen = Promise.withResolvers<void>()
        const slow = other.write(async (trx) => {
          await trx
            .insertInto('logs')
            .values({ ...logRow({ userId: ada.id, tokenId: 1, channelId: 7 }), quota: 1 })
            .execute()
          isOpen.resolve()
          await mayCommit.promise
        })
        await isOpen.promise
        await add({ quota: 2 })
        expect((await events.next())?.data).toMatchObject({ quota: 2 })
        mayCommit.resolve()
        await slow
        expect((await events.next())?.data).toMatchObject({ quota: 1 })
        await events.close()
      } finally {
        await other.close()
      }
    })
  }
})
