import { expect, setSystemTime, test } from 'bun:test'
import { existsSync, linkSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecrets } from '../../server/lib/secrets/secrets.ts'
import { openStore } from '../../server/store/connection/open.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { ok, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { type GatewayProcess, Installation } from '../helpers/gateway-process.ts'
import { runsAll, sweptPoints } from '../helpers/sweeps.ts'
import { answer, installFor, messages, model, newToken, pricePerCall, promptTokens } from '../money/installed.ts'

const keyFromFile = { SECRET_KEY: '' }
const rootToken = { username: 'root', password: 'root password' }

/** Calls the management API with a new login, because access tokens end with the old key. */
async function loggedIn(
  gateway: GatewayProcess,
): Promise<<T>(method: string, path: string, body?: unknown) => Promise<T>> {
  const login = await fetch(`${gateway.url}/api/user/login`, { method: 'POST', body: JSON.stringify(rootToken) })
  const cookie = login.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ')
  return async (method, path, body) => {
    const response = await fetch(gateway.url + path, {
      method,
      headers: { cookie, origin: gateway.url },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const result = (await response.json()) as { success: boolean; message: string; data: never }
    if (!result.success) throw new Error(`${method} ${path}: ${result.message}`)
    return result.data
  }
}

forEachDatabaseUrl((name, freshUrl) => {
  test(`a new secret key on ${name}: tokens, channels, options, destinations and recordings still work, and all logins end`, async () => {
    await using upstream = await startFakeUpstream()
    upstream.always(ok({ text: answer, promptTokens }))
    await using installation = new Installation(name === 'postgres' ? await freshUrl() : undefined, keyFromFile)
    const gateway = await installation.start()
    await installFor(gateway, upstream.url)
    const token = await newToken(gateway, 10_000)
    const put = (key: string, value: string) => gateway.api('PUT', '/api/option/', { key, value })
    await put('S3SecretAccessKey', 'a secret of the store')
    await gateway.api('PUT', '/api/channel/', { id: 1, headers: { 'x-team': 'blue' } })
    await gateway.api('POST', '/api/alert/destination', {
      kind: 'webhook',
      name: 'hook',
      url: 'https://hooks.example/x',
    })
    await gateway.api('POST', '/api/capture/rule/', captureRule)
    const call = (to: GatewayProcess) => to.post('/v1/chat/completions', { model, messages }, token.key)
    const first = await call(gateway)
    const requestId = first.headers.get('x-oneapi-request-id') ?? ''
    expect(first.status).toBe(200)
    const recorded = await untilRecorded(gateway, requestId)
    // From here on, the calls use the old key of the token.
    await gateway.api('POST', `/api/token/${token.id}/rotate`, {})
    const running = await installation.run('rotate-key')
    expect(running.output).toContain('A server is running on')
    expect(running.code).toBe(1)
    await gateway.stop()

    const oldKey = readFileSync(join(installation.folder, 'secret.key'), 'utf8').trim()
    const done = await installation.run('rotate-key')
    expect(done.output).toContain('1 tokens, 1 channels, ')
    expect(done.output).toContain('1 recorded requests are encrypted under the new key.')
    expect(done.code).toBe(0)
    const newKey = readFileSync(join(installation.folder, 'secret.key'), 'utf8').trim()
    expect(newKey).not.toBe(oldKey)
    expect(existsSync(join(installation.folder, 'secret.key.next'))).toBe(false)
    const kept = readdirSync(installation.folder).filter((file) => file.startsWith('secret.key.replaced-'))
    expect(kept.map((file) => readFileSync(join(installation.folder, file), 'utf8').trim())).toEqual([oldKey])

    const again = await installation.start()
    expect((await call(again)).status).toBe(200)
    expect(upstream.requests.at(-1)?.headers.get('authorization')).toBe('Bearer upstream-key')
    // The old access token was stored only as a hash, so it no longer works.
    await expect(again.api('GET', '/api/user/self')).rejects.toThrow()
    const api = await loggedIn(again)
    expect(await api<{ remain_quota: number }>('GET', `/api/token/${token.id}`)).toMatchObject({
      remain_quota: 10_000 - 2 * pricePerCall,
    })
    expect(await api<object>('GET', `/api/capture/${requestId}`)).toEqual(recorded)
    expect(again.said()).not.toContain('invalid stored value')
    expect(again.said()).not.toContain('cannot be decrypted')
    await again.stop()
    // Nothing is encrypted with the old key any more.
    expect(await openedWith(installation, oldKey)).toEqual([])
    expect((await openedWith(installation, newKey)).length).toBeGreaterThan(3)
    expect((await installation.run('audit')).output).toContain('; 0 faults.')
  }, 120_000)

  test(`kill -9 at 20 points of rotate-key on ${name}: after another run, everything works`, async () => {
    await using upstream = await startFakeUpstream()
    upstream.always(ok({ text: answer, promptTokens }))
    await using installation = new Installation(name === 'postgres' ? await freshUrl() : undefined, keyFromFile)
    const gateway = await installation.start()
    await installFor(gateway, upstream.url)
    const token = await newToken(gateway, 10_000)
    const keys = [token.key]
    for (let more = 0; more < 30; more++) keys.push((await newToken(gateway, 100)).key)
    await gateway.stop()
    const begun = performance.now()
    expect((await installation.runProcess('rotate-key')).code).toBe(0)
    const wholeMs = performance.now() - begun
    let killed = 0
    for (const cut of sweptPoints(20, name)) {
      if (await installation.runUntilKilled((wholeMs * cut) / 20, 'rotate-key')) killed++
      // Everything is encrypted with one of the existing keys.
      const files = readdirSync(installation.folder).filter((file) => /^secret\.key(?:\.next)?$/.test(file))
      const counts = await Promise.all(
        files.map(async (file) => {
          const key = readFileSync(join(installation.folder, file), 'utf8').trim()
          return (await openedWith(installation, key)).filter((each) => each.startsWith('token')).length
        }),
      )
      expect(counts.toSorted((a, b) => b - a)[0]).toBe(keys.length)
    }
    if (runsAll) expect(killed).toBeGreaterThan(5)
    expect((await installation.run('rotate-key')).code).toBe(0)
    const again = await installation.start()
    for (const key of keys.slice(0, 3))
      expect((await again.post('/v1/chat/completions', { model, messages }, key)).status).toBe(200)
    expect((await installation.run('audit')).output).toContain('; 0 faults.')
  }, 120_000)

  test(`after an interrupted rotate-key on ${name}, no server starts until rotate-key has run again`, async () => {
    await using installation = new Installation(name === 'postgres' ? await freshUrl() : undefined, keyFromFile)
    const gateway = await installation.start()
    const token = await newToken(gateway, 100)
    await gateway.stop()
    const file = join(installation.folder, 'secret.key')
    const oldKey = readFileSync(file, 'utf8')
    expect((await installation.run('rotate-key')).code).toBe(0)
    // This is the state of an installation in which rotate-key was interrupted just before its last step.
    writeFileSync(`${file}.next`, readFileSync(file, 'utf8'))
    writeFileSync(file, oldKey)
    await expect(installation.start()).rejects.toThrow('If rotate-key was interrupted, run it again.')
    const again = await installation.run('rotate-key')
    expect(again.output).toContain('An earlier run has encrypted the database under the new key.')
    expect(again.code).toBe(0)
    const api = await loggedIn(await installation.start())
    expect(`sk-${(await api<{ key: string }>('GET', `/api/token/${token.id}`)).key}`).toBe(token.key)
  })
})

test('with SECRET_KEY, rotate-key reads the new key from the environment, and afterwards the old key decrypts nothing', async () => {
  await using installation = new Installation()
  await installation.create()
  const missing = await installation.run('rotate-key')
  expect(missing.output).toContain('Set TOLLGATE_NEW_SECRET_KEY to it')
  expect(missing.code).toBe(1)
  const next = 'another secret key of the installation'
  await using rotating = new Installation(undefined, { DATA_DIR: installation.folder, TOLLGATE_NEW_SECRET_KEY: next })
  const done = await rotating.run('rotate-key')
  expect(done.output).toContain('Set SECRET_KEY to the new key now')
  expect(done.code).toBe(0)
  await expect(installation.start()).rejects.toThrow('SECRET_KEY does not belong to this database')
  await using after = new Installation(undefined, { DATA_DIR: installation.folder, SECRET_KEY: next })
  await (await after.start()).stop()
  await using stranger = new Installation(undefined, {
    DATA_DIR: installation.folder,
    SECRET_KEY: 'the key of nobody at all',
    TOLLGATE_NEW_SECRET_KEY: 'one more key for nobody',
  })
  expect((await stranger.run('rotate-key')).output).toContain('The secret key does not belong to this database.')
})

test('two new secret keys in the same second: both old keys are kept, and a key that is already kept is not written to', async () => {
  await using installation = new Installation(undefined, keyFromFile)
  const file = join(installation.folder, 'secret.key')
  writeFileSync(file, 'the first secret key of the installation\n')
  await installation.create()
  const keys: string[] = []
  try {
    setSystemTime(new Date('2026-11-28T10:15:00Z'))
    // This is the state after a run that kept the key and then failed.
    const kept = `${file}.replaced-20261128T101500`
    linkSync(file, kept)
    utimesSync(kept, 1, 1)
    for (let turn = 0; turn < 2; turn++) {
      keys.push(readFileSync(file, 'utf8'))
      expect((await installation.run('rotate-key')).code).toBe(0)
    }
    expect(statSync(kept).mtimeMs).toBe(1000)
    expect([kept, `${kept}-2`].map((each) => readFileSync(each, 'utf8'))).toEqual(keys)
  } finally {
    setSystemTime()
  }
})

const captureRule = {
  target: 'user',
  target_id: 1,
  until: Math.floor(Date.now() / 1000) + 3600,
  redactions: [],
  size_limit: 10_000,
}

async function untilRecorded(gateway: GatewayProcess, requestId: string): Promise<object> {
  for (;;) {
    const found = await gateway.api<object>('GET', `/api/capture/${requestId}`).catch(() => undefined)
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** The names of all values in the database that this key decrypts. */
async function openedWith({ databaseUrl }: Installation, key: string): Promise<string[]> {
  const secrets = createSecrets(key)
  const store = openStore({ url: databaseUrl })
  const { read } = store
  const sealed = [
    ...(await read.selectFrom('tokens').select(['id', 'old_key']).where('old_key', '<>', '').execute()).map((row) => [
      `old key of token ${row.id}`,
      row.old_key,
      'token',
    ]),
    ...(await read.selectFrom('tokens').select(['id', 'key']).execute()).map((row) => [
      `token ${row.id}`,
      row.key,
      'token',
    ]),
    ...(await read.selectFrom('channels').select(['id', 'key', 'headers']).execute()).flatMap((row) => [
      [`channel ${row.id}`, row.key, 'channel'],
      [`headers ${row.id}`, row.headers, 'channel-headers'],
    ]),
    ...(await read.selectFrom('options').selectAll().execute()).map((row) => [row.key, row.value, `option ${row.key}`]),
    ...(await read.selectFrom('alert_destinations').select(['id', 'address']).execute()).map((row) => [
      `destination ${row.id}`,
      row.address,
      'alert-destination',
    ]),
  ]
  await store.close()
  return sealed.flatMap(([name = '', text = '', context = '']) => {
    try {
      secrets.open(text, context)
      return [name]
    } catch {
      return []
    }
  })
}

test('every file that encrypts or hashes with the secret key is in the list below', () => {
  const root = join(import.meta.dir, '../../server')
  const uses = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('lib/secrets/'))
    .filter((file) => {
      const text = readFileSync(join(root, file), 'utf8')
      return text.includes('secrets/secrets.ts') && /fingerprint|\bseal/.test(text)
    })
  // If a new file stores a value that is encrypted or hashed with the secret key, add the value to
  // server/store/snapshot/reseal.ts. Then add the file to `knownUses`, with what happens to the value when the key
  // changes.
  expect(uses.toSorted()).toEqual(knownUses.map(([file]) => file).toSorted())
})

/** Where something is encrypted or hashed with the secret key, and what happens to it when the key changes. */
const knownUses: readonly [file: string, fate: string][] = [
  ['api/auth/known-browser.ts', 'a cookie; the next login is checked as one from a new browser'],
  ['api/bootstrap.ts', 'the check value, and the first token'],
  ['api/channel/channel-keys.ts', 'channels, and the hashes of their keys'],
  ['api/channel/stored-carries.ts', 'channels'],
  ['api/one-time-codes.ts', 'deleted; valid for minutes'],
  ['api/token/new-key.ts', 'tokens'],
  ['captures/capture-document.ts', 'recordings'],
  ['captures/captures.ts', 'recordings'],
  ['captures/reseal-captures.ts', 'recordings'],
  ['commands/export/restore-export.ts', 'tokens, channels and options'],
  ['commands/export/write-export.ts', 'reads them'],
  ['commands/installed.ts', 'the check value'],
  ['commands/restored-key.ts', 'the check value'],
  ['context.ts', 'the id in the Via header, which is stored nowhere'],
  ['http/session.ts', 'sessions and access tokens end'],
  ['jobs/alert-sender.ts', 'alert destinations'],
  ['jobs/channel-switch.ts', 'hashes of channel keys'],
  ['jobs/import-runs.ts', 'forgotten; the address is entered again'],
  ['relay/admission/token-cache.ts', 'hashes of tokens'],
  ['relay/call/compactions.ts', 'clients have them; they can no longer be read'],
  ['relay/call/response-owners.ts', 'hashes of channel keys'],
  ['relay/call/upstream-tokens.ts', 'deleted; made again when they are needed'],
  ['relay/routing/routing-table.ts', 'hashes of channel keys, also as parts of caps'],
  ['settings/secret-options.ts', 'options'],
  ['store/channels/stored-carries.ts', 'channels'],
  ['store/snapshot/reseal.ts', 'all of them'],
]
