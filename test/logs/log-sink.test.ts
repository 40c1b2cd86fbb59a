// The copy of the log at a second destination: ClickHouse, real and simulated, and JSON lines in a folder.
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { OptionKey } from '../../contract/options.ts'
import { ConfigError, loadConfig } from '../../server/config.ts'
import { createLogCopy } from '../../server/jobs/copy-log.ts'
import { parseLogSink } from '../../server/lib/log-sink-address.ts'
import { createSecrets } from '../../server/lib/secrets/secrets.ts'
import type { SinkFigures } from '../../server/metrics.ts'
import { createMetadataGuard } from '../../server/outbound/metadata-guard.ts'
import { storedOption } from '../../server/settings/secret-options.ts'
import { loadSettings, type SettingsSource } from '../../server/settings/settings.ts'
import { saveOption } from '../../server/store/installation/options.ts'
import { purgeLogs } from '../../server/store/logs/log-purge.ts'
import { sinkState } from '../../server/store/logs/log-sinks.ts'
import type { Store } from '../../server/store/store.ts'
import { type Account, addAccount, logRow } from '../helpers/accounts.ts'
import { type ClickHouse, clickhouseMissing, startClickHouse } from '../helpers/clickhouse.ts'
import { forEachDatabase } from '../helpers/databases.ts'
import { startObjectStore, storeKey } from '../helpers/object-store.ts'

setDefaultTimeout(60_000)

const start = Math.floor(Date.UTC(2026, 9, 31, 23, 59) / 1000)
const folder = mkdtempSync(join(tmpdir(), 'tollgate-sink-'))
let clickhouse: ClickHouse | undefined
let fake: Awaited<ReturnType<typeof startFake>>

beforeAll(async () => {
  fake = await startFake()
  if (clickhouseMissing === undefined) clickhouse = await startClickHouse()
})
afterAll(async () => {
  fake.close()
  await clickhouse?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

test('the URL of the log copy leads to a ClickHouse database or a folder; with an invalid URL, the gateway does not start, and its message does not contain the password', () => {
  expect(parseLogSink('https://me:a%20b@click.example:8443/logs')).toEqual({
    ...{ kind: 'clickhouse', name: 'https://click.example:8443/logs', url: 'https://click.example:8443' },
    ...{ database: 'logs', user: 'me', password: 'a b' },
  })
  expect(parseLogSink('file:///var/log/tollgate')).toMatchObject({ kind: 'folder', folder: '/var/log/tollgate' })
  const wrong = ['ftp://x/y', 'nothing', 'http://a:secret@b/x;drop', 'http://a:secret@b/x?y=z', 'http://a:secret@b/x/y']
  for (const text of wrong) {
    const load = () => loadConfig({ DATA_DIR: folder, SECRET_KEY: 'a secret key for tests', LOG_SINK_URL: text })
    expect(load).toThrow(ConfigError)
    expect(load).toThrow(/^LOG_SINK_URL (?!.*secret)/)
  }
})

forEachDatabase((name, openFresh) => {
  let store: Store
  let account: Account
  let now: number
  let figures: SinkFigures | undefined
  let warnings: string[]

  beforeEach(async () => {
    store = await openFresh()
    account = await addAccount(store, { user: 1_000 })
    settings = await loadSettings(store, secrets, (message) => void warnings.push(message))
    now = start + 3600
    warnings = []
    fake.reset()
  })

  const secrets = createSecrets('a secret key for tests only')
  let settings: SettingsSource

  const copyTo = (url: string | undefined, { nodeId = 'a', months = 0 } = {}) =>
    createLogCopy({
      ...{ store, nodeId, clock: { nowMs: () => now * 1000 }, settings },
      config: { logSink: url === undefined ? undefined : parseLogSink(url), logSinkMonths: months, dataDir: folder },
      guard: createMetadataGuard(() => now * 1000),
      metrics: {
        logCopied(measured) {
          figures = measured
        },
      },
      warn: (message) => void warnings.push(message),
    })
  const jobFor = (url: string, options = {}) => copyTo(url, options).job
  const set = async (values: Partial<Record<OptionKey, string>>) => {
    for (const [key, value] of Object.entries(values) as [OptionKey, string][]) {
      const stored = storedOption(secrets, key, value)
      await store.write((trx) => saveOption(trx, key, stored.value, stored.sealed))
    }
    await settings.reload()
  }
  const addRows = (count: number, fields: Partial<ReturnType<typeof logRow>> = {}) =>
    store.write((trx) =>
      trx
        .insertInto('logs')
        .values(
          Array.from({ length: count }, (_, at) => ({
            ...logRow(account, { created_at: start + at, request_id: `r${at}`, ...fields }),
            quota: at,
          })),
        )
        .execute(),
    )
  const numbers = (count: number) => Array.from({ length: count }, (_, at) => at + 1)

  if (clickhouseMissing !== undefined) test.skip(`rows arrive in ClickHouse (${clickhouseMissing})`, () => undefined)
  else
    test('rows arrive in ClickHouse once, in monthly partitions, which are dropped when they are too old', async () => {
      const { ask, url } = clickhouse as ClickHouse
      await ask('drop table if exists default.tollgate_logs')
      await addRows(100, { content: `quotes ' " \\ and\nlines, 日本語 ${'\t'}`, upstream_message: '{"a":1}' })
      await addRows(1, { created_at: -5 })
      await addRows(1, { created_at: start * 1000 })
      await jobFor(url).run()
      expect(warnings).toEqual([])
      expect(await ask('select count(), uniqExact(id), sum(quota) from tollgate_logs')).toBe('102\t102\t4950')
      expect(
        await ask(
          'select toYYYYMM(created_at) as month, count() from tollgate_logs where quota > 0 group by month order by month',
        ),
      ).toBe('202610\t59\n202611\t40')
      const shown = await ask(
        'select content, cost, is_stream, request_id from tollgate_logs where id = 7 format JSONCompact',
      )
      expect(JSON.parse(shown).data).toEqual([
        [`quotes ' " \\ and\nlines, 日本語 ${'\t'}`, null, expect.any(Number), 'r6'],
      ])
      // Resets the stored position to an earlier row. The next process must not send rows that have arrived already.
      await store.write((trx) => trx.updateTable('log_sinks').set({ sent_to: 10 }).execute())
      now += 200
      await jobFor(url, { nodeId: 'b' }).run()
      expect(await ask('select count(), uniqExact(id) from tollgate_logs')).toBe('102\t102')
      expect(figures).toEqual({ waiting: 0, sent: expect.any(Number), lost: 0, failing: false })
      // 400 days later, everything is older than six months.
      now += 400 * 86_400
      await jobFor(url, { nodeId: 'b', months: 6 }).run()
      expect(await ask("select count() from tollgate_logs where created_at < '2027-01-01 00:00:00'")).toBe('0')
    })

  test('after failures of the connection or of ClickHouse, each row is in ClickHouse exactly once', async () => {
    await addRows(40)
    const job = jobFor(fake.url)
    for (const fault of ['refuse', 'store and break', 'store half', 'late', 'redirect', undefined] as const) {
      fake.fault = fault
      await addRows(3)
      await job.run()
      now += 61
    }
    expect(fake.ids()).toEqual(numbers(58))
    expect(warnings).toEqual([
      expect.stringMatching(
        /^log rows cannot be copied to http:\S+\/logs and are waiting: ClickHouse responded with status 500: no\.$/,
      ),
      expect.stringContaining('log rows are copied to'),
    ])
    expect(JSON.stringify(warnings)).not.toContain('secret')
    expect(await sinkState(store.read, parseLogSink(fake.url).name)).toMatchObject({
      sent_to: 58,
      error: '',
      lost_rows: 0,
    })
    expect(fake.logins).toEqual(new Set(['me:secret']))
    expect(fake.tokens.every((token) => /^[0-9a-f]{64}$/.test(token))).toBe(true)
  })

  test('one process copies the log, and another continues when the first one has ended or is silent', async () => {
    await addRows(5)
    const [first, second] = [jobFor(fake.url), jobFor(fake.url, { nodeId: 'b' })]
    await Promise.all([first.run(), second.run()])
    expect(fake.ids()).toEqual(numbers(5))
    await addRows(1)
    await second.run()
    expect(fake.ids()).toHaveLength(5)
    await first.end?.()
    await second.run()
    expect(fake.ids()).toEqual(numbers(6))
    await addRows(1)
    now += 121
    await first.run()
    expect(fake.ids()).toEqual(numbers(7))
  })

  test('rows that retention deletes before they were copied are counted, and the gap is reported', async () => {
    await addRows(10)
    const job = jobFor(fake.url)
    await job.run()
    fake.fault = 'refuse'
    await addRows(7)
    await job.run()
    expect(figures).toMatchObject({ waiting: 7, failing: true })
    await purgeLogs(store, { before: start + 1000, now })
    fake.fault = undefined
    await addRows(1, { created_at: now })
    now += 61
    await job.run()
    expect(warnings).toContainEqual(
      expect.stringMatching(/^7 log rows were deleted before they were copied to .*: the copy has a gap$/),
    )
    expect(figures).toEqual({ waiting: 0, sent: 11, lost: 7, failing: false })
    expect(fake.ids()).toEqual([...numbers(10), 18])
  })

  test('JSON lines are written to a file for each day, also after a crash in the middle of a line', async () => {
    const target = join(folder, name)
    await addRows(3)
    const job = jobFor(`file://${target}`, { months: 1 })
    await job.run()
    writeFileSync(join(target, 'logs-2026-11-01.jsonl'), '{"id": 99, "cut', { flag: 'a' })
    await addRows(2)
    now += 5
    await job.run()
    const lines = readFileSync(join(target, 'logs-2026-11-01.jsonl'), 'utf8').split('\n')
    expect(lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line).id)).toEqual(numbers(5))
    now += 40 * 86_400
    await addRows(1)
    await job.run()
    expect(readdirSync(target)).toEqual(['logs-2026-12-11.jsonl'])
    expect(warnings).toEqual([])
  })

  const objectStore = {
    S3Bucket: 'bucket',
    S3Prefix: 'gate',
    S3AccessKeyId: storeKey.id,
    S3SecretAccessKey: storeKey.secret,
  }
  const rowsOf = ({ objects }: { objects: Map<string, Uint8Array> }) =>
    [...objects.values()].flatMap((bytes) =>
      gunzipSync(bytes)
        .toString()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as { id: number; content: string }),
    )
  const idsIn = (objects: Parameters<typeof rowsOf>[0]) => rowsOf(objects).map(({ id }) => id)

  test('rows are collected for a minute, and stored in the object store as compressed JSON lines', async () => {
    await using objects = startObjectStore('bucket')
    await set({ ...objectStore, S3Endpoint: objects.url, LogCopyPlace: 's3' })
    now = start + 10
    const { job, state, test: tryOut } = copyTo(undefined)
    await addRows(3, { content: `quotes ' " \\ and\nlines, 日本語` })
    await job.run()
    expect(objects.objects.size).toBe(0)
    now = start + 60
    await job.run()
    await addRows(2, { created_at: now })
    await job.run()
    expect([...objects.objects.keys()]).toEqual([
      expect.stringMatching(/^\/bucket\/gate\/logs\/2026-10-31\/0{11}1-0{11}3-[0-9a-f]{12}\.jsonl\.gz$/),
    ])
    expect(rowsOf(objects)[0]?.content).toBe(`quotes ' " \\ and\nlines, 日本語`)
    expect(await state()).toMatchObject({
      ...{ name: `${objects.url}/bucket/gate/logs/`, isSetByEnvironment: false, waiting: 2, sentRows: 3 },
      ...{ sentAt: now, lostRows: 0, error: '' },
    })
    now += 60
    await job.run()
    expect(idsIn(objects)).toEqual(numbers(5))
    expect(await tryOut()).toBe('ok')
    expect(objects.objects.size).toBe(2)
    expect(objects.refusals).toEqual([])
    expect(warnings).toEqual([])
  })

  test('an upload without a confirmation is repeated with the same rows, also by another process; the reason of a failure is reported', async () => {
    await using objects = startObjectStore('bucket')
    await set({ ...objectStore, S3Endpoint: objects.url, LogCopyPlace: 's3' })
    const first = copyTo(undefined)
    await addRows(4)
    // The store keeps the object but responds with an error.
    objects.lostAnswers = 1
    await first.job.run()
    expect(idsIn(objects)).toEqual(numbers(4))
    expect(await first.state()).toMatchObject({
      waiting: 4,
      sentRows: 0,
      error: 'The object store responded with status 500.',
    })
    await first.job.end?.()
    await addRows(3)
    const second = copyTo(undefined, { nodeId: 'b' })
    await second.job.run()
    expect(idsIn(objects)).toEqual(numbers(7))
    expect(objects.objects.size).toBe(2)
    expect(await second.state()).toMatchObject({ waiting: 0, sentRows: 7, error: '' })

    await addRows(1)
    objects.instead.push(new Response('<Error><Code>SlowDown</Code></Error>', { status: 503 }))
    await second.job.run()
    expect(warnings).toContainEqual(
      expect.stringContaining('and are waiting: The object store responded with status 503 (SlowDown).'),
    )
    // Retention deletes a row while the store does not work.
    await purgeLogs(store, { before: start + 1000, now })
    await addRows(1, { created_at: now })
    now += 61
    await second.job.run()
    expect(idsIn(objects)).toEqual([...numbers(7), 9])
    expect(await second.state()).toMatchObject({ lostRows: 1, lostAt: expect.any(Number), waiting: 0, error: '' })
  })

  test('a destination that is chosen in the settings is used immediately, and the node releases the previous destination for other nodes', async () => {
    const target = join(folder, `chosen-${name}`)
    const copy = copyTo(undefined)
    await addRows(2)
    await copy.job.run()
    expect(await copy.state()).toMatchObject({ name: '', waiting: 0 })
    expect(await copy.test()).toBe('off')
    await set({ LogCopyPlace: 'files', LogCopyFolder: target })
    await copy.job.run()
    expect(readdirSync(target)).toEqual(['logs-2026-11-01.jsonl'])
    expect(await copy.test()).toBe('ok')
    expect(readdirSync(target)).toHaveLength(1)
    const url = new URL(fake.url)
    await set({
      ...{ LogCopyPlace: 'clickhouse', LogCopyClickHouseURL: url.origin, LogCopyClickHouseDatabase: 'logs' },
      ...{ LogCopyClickHouseUser: 'me', LogCopyClickHousePassword: 'secret' },
    })
    await copy.job.run()
    expect(fake.ids()).toEqual(numbers(2))
    expect(fake.logins).toEqual(new Set(['me:secret']))
    expect((await sinkState(store.read, `file://${target}`))?.holder).toBe('')
    // If the environment variable and the option are both set, the variable is used.
    expect(await copyTo('file:///elsewhere').state()).toMatchObject({
      name: 'file:///elsewhere',
      isSetByEnvironment: true,
    })
    await set({ LogCopyPlace: 'files', LogCopyFolder: '/dev/null/x' })
    expect(await copy.test()).toBe('The folder cannot be written (ENOTDIR).')
    await set({ LogCopyFolder: '../climbed' })
    expect(await copy.state()).toMatchObject({ name: '', error: 'LogCopyFolder is not a folder that may be used.' })
  })
})

/** A server that stores rows like ClickHouse, unless it is told to fail. */
async function startFake() {
  const rows: number[] = []
  const state = {
    fault: undefined as 'refuse' | 'store and break' | 'store half' | 'late' | 'redirect' | undefined,
    logins: new Set<string>(),
    tokens: [] as string[],
    busy: 0,
    url: '',
    stored: new Map<number, string>(),
    ids: () => rows.toSorted((a, b) => a - b),
    reset() {
      rows.length = 0
      state.stored.clear()
      state.fault = undefined
    },
    close: () => server.close(),
  }
  const store = (lines: string[]) => {
    for (const line of lines) {
      const row = JSON.parse(line)
      rows.push(row.id)
      state.stored.set(
        row.id,
        JSON.stringify({ key: String(row.id), at: String(row.created_at), request: row.request_id }),
      )
    }
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const lines = Buffer.concat(chunks)
      .toString()
      .split('\n')
      .filter((line) => line !== '')
    const parameters = new URL(request.url ?? '', 'http://fake').searchParams
    const query = parameters.get('query') ?? ''
    const answer = (status: number, text = '', headers = {}) => response.writeHead(status, headers).end(text)
    state.logins.add(`${request.headers['x-clickhouse-user']}:${request.headers['x-clickhouse-key']}`)
    if (query === 'select version()') return answer(200, '24.8.1.1\n')
    if (query.startsWith('create table')) return answer(200)
    if (query.includes('system.processes')) return answer(200, String(state.busy-- > 0 ? 1 : 0))
    if (query.startsWith('select toString(id)')) {
      const [from = 0, to = 0] = [...query.matchAll(/id [<>]= (\d+)/g)].map(([, id]) => Number(id))
      return answer(
        200,
        [...state.stored]
          .filter(([id]) => id >= from && id <= to)
          .map(([, key]) => key)
          .join('\n'),
      )
    }
    if (!query.startsWith('insert into')) return answer(400, `unknown: ${query}`)
    if (state.fault === 'refuse') return answer(500, 'no')
    if (state.fault === 'redirect') return answer(307, '', { location: 'http://127.0.0.1:1/' })
    state.tokens.push(parameters.get('insert_deduplication_token') ?? '')
    store(state.fault === 'store half' ? lines.slice(0, lines.length / 2) : lines)
    if (state.fault === 'late') state.busy = 1
    if (state.fault === 'store half') return answer(500, 'half')
    if (state.fault !== undefined) return response.destroy()
    return answer(200)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  state.url = `http://me:secret@127.0.0.1:${typeof address === 'object' ? address?.port : 0}/logs`
  return state
}
