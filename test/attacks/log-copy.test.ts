// The log copy sends the requests of all users to a destination that is set in an option.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createLogCopy } from '../../server/jobs/copy-log.ts'
import { createMetadataGuard } from '../../server/outbound/metadata-guard.ts'
import { addAccount, logRow } from '../helpers/accounts.ts'
import { forEachDatabase } from '../helpers/databases.ts'
import { startService } from '../helpers/outside-services.ts'
import { type Attacker, type Scene, scene } from './setup.ts'

let asked: string[] = []
let service: Awaited<ReturnType<typeof startService>>
beforeAll(async () => {
  service = await startService((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data/' }).end()
  })
})
afterAll(() => service[Symbol.asyncDispose]())

forEachDatabase((_, openFresh) => {
  let set: Scene
  let root: Attacker

  beforeEach(async () => {
    asked = []
    set = await scene(await openFresh())
    root = await set.person(100)
  })
  afterEach(() => set.api.store.close())

  const call = async (method: string, path: string, as: Attacker, body?: unknown) =>
    (await set.api.call(method, path, { as: as.token, ...(body !== undefined && { body }) })).json
  const put = (key: string, value: string, as = root) => call('PUT', '/api/option/', as, { key, value })
  const copyWith = (addresses: string[]) => {
    const { store, settings, clock } = set.api
    return createLogCopy({
      ...{ store, settings, clock, nodeId: 'a node', warn: () => undefined },
      config: { logSink: undefined, logSinkMonths: 0, dataDir: '/nowhere' },
      guard: createMetadataGuard(clock.nowMs, async () => addresses),
      metrics: { logCopied: () => undefined },
    })
  }

  test('users and admins cannot see, test or choose the destination of the log copy', async () => {
    for (const role of [1, 10]) {
      const attacker = await set.person(role)
      expect((await call('GET', '/api/log_copy/', attacker)).success).toBe(false)
      expect((await call('POST', '/api/log_copy/test', attacker)).success).toBe(false)
      for (const [key, value] of [
        ['LogCopyClickHouseURL', 'https://attacker.example'],
        ['LogCopyPlace', 'files'],
        ['LogCopyFolder', '/tmp'],
        ['LogCopyMonths', '1'],
      ] as const)
        expect((await put(key, value, attacker)).success).toBe(false)
    }
    expect((await call('GET', '/api/log_copy/', root)).data).toMatchObject({ name: '', error: '' })
  })

  test('no log row is sent to a metadata service, whether the destination leads there by its URL, its host name or a redirect', async () => {
    for (const url of [
      'http://169.254.169.254',
      'http://metadata.google.internal',
      'http://me:secret@host:8123',
      'file:///etc',
    ])
      expect((await put('LogCopyClickHouseURL', url)).success).toBe(false)
    for (const database of ['x; drop table logs', 'a.b', '', "a' or 1=1", 'x'.repeat(65)])
      expect((await put('LogCopyClickHouseDatabase', database)).success).toBe(false)
    for (const folder of ['../elsewhere', '/var/../etc', '..', 'a\\b', 'a\0b', ' '])
      expect((await put('LogCopyFolder', folder)).success).toBe(false)
    expect(await put('LogCopyPlace', 'clickhouse')).toMatchObject({ success: false, code: 'log_copy_url_needed' })
    expect(await put('LogCopyPlace', 's3')).toMatchObject({ success: false, code: 'log_copy_storage_needed' })

    const { store } = set.api
    const account = await addAccount(store, { user: 1_000 })
    await store.write((trx) =>
      trx
        .insertInto('logs')
        .values({ ...logRow(account, { created_at: 1 }), quota: 0 })
        .execute(),
    )
    await put('LogCopyClickHouseURL', 'http://click.example:8123')
    await put('LogCopyPlace', 'clickhouse')
    const hidden = copyWith(['169.254.169.254'])
    await hidden.job.run()
    expect((await hidden.state()).error).toBe(
      'ClickHouse cannot be reached: the URL leads to a cloud metadata service.',
    )
    expect(await hidden.test()).toContain('metadata')

    await put('LogCopyClickHouseURL', service.url)
    await copyWith(['127.0.0.1']).job.run()
    await put('S3Endpoint', service.url)
    await put('S3Bucket', 'bucket')
    await put('LogCopyPlace', 's3')
    await copyWith(['127.0.0.1']).job.run()
    expect((await call('GET', '/api/log_copy/', root)).data).toMatchObject({
      ...{ waiting_rows: 1, sent_rows: 0, error: 'The object store responded with status 307.' },
      ...{ error_code: 'store_status', error_values: { status: '307' } },
    })
    // Each destination got one request, so no redirect was followed.
    expect(asked.map((each) => each.split(' ')[0])).toEqual(['POST', 'PUT'])
  })

  test('the password is in no response, and is stored encrypted', async () => {
    const password = 'the password of a test'
    await put('LogCopyClickHousePassword', password)
    await put('LogCopyClickHouseURL', service.url)
    await put('LogCopyPlace', 'clickhouse')
    const failed = await call('POST', '/api/log_copy/test', root)
    expect(failed).toMatchObject({ success: false, code: 'clickhouse_status' })
    const answers = [failed]
    for (const path of ['/api/option/', '/api/option/definitions', '/api/audit/', '/api/log_copy/'])
      answers.push(await call('GET', path, root))
    expect(JSON.stringify(answers)).not.toContain(password)
    expect(JSON.stringify(await set.rows('options'))).not.toContain(password)
    expect(JSON.stringify(answers)).toContain('log.test-copy')
  })
})
