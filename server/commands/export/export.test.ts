import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { forEachDatabaseUrl } from '../../../test/helpers/databases.ts'
import { ok, startFakeUpstream } from '../../../test/helpers/fake-upstream.ts'
import { Installation } from '../../../test/helpers/gateway-process.ts'
import { newPostgresDatabase } from '../../../test/helpers/postgres.ts'
import { answer, installFor, messages, model, newToken, promptTokens } from '../../../test/money/installed.ts'
import { createSecrets } from '../../lib/secrets/secrets.ts'
import { openStore } from '../../store/connection/open.ts'
import { isExport, restoreExport } from './restore-export.ts'

const passphrase = 'a passphrase of some length'

/** Restores lines into an installation, as the import command does. */
async function restore(into: Installation, text: string, given: string | undefined = passphrase, key = secretKey) {
  const store = openStore({ url: into.databaseUrl })
  try {
    const lines = text.split('\n').filter((line) => line !== '')
    return await restoreExport({ store, secrets: createSecrets(key) }, from(lines), { passphrase: given })
  } finally {
    await store.close()
  }
}

async function* from(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}

const secretKey = 'another secret key than that of tests'

forEachDatabaseUrl((name, freshUrl) => {
  const other = name === 'postgres' ? 'sqlite' : 'postgres'
  const urlOf = async (kind: string) => (kind === 'postgres' ? (await newPostgresDatabase()).url : undefined)

  async function used() {
    const upstream = await startFakeUpstream()
    upstream.always(ok({ text: answer, promptTokens }))
    const installation = new Installation(name === 'postgres' ? await freshUrl() : undefined, {
      TOLLGATE_EXPORT_PASSPHRASE: passphrase,
    })
    const gateway = await installation.start()
    await installFor(gateway, upstream.url)
    const token = await newToken(gateway, 100_000)
    for (let call = 0; call < 3; call++)
      await (await gateway.post('/v1/chat/completions', { model, messages }, token.key)).text()
    await gateway.api('POST', '/api/user/', { username: 'ada', password: 'password of ada' })
    const codes = await gateway.api<string[]>('POST', '/api/redemption/', { name: 'gift', quota: 500, count: 2 })
    await gateway.api('PUT', '/api/option/', { key: 'SMTPToken', value: 'the mail password' })
    await gateway.api('POST', '/api/alert/destination', {
      kind: 'webhook',
      name: 'hook',
      url: 'https://hooks.example/s3cret',
    })
    await gateway.api('POST', '/api/alert/rule', { kind: 'channel_disabled', name: 'down' })
    return { upstream, installation, gateway, token, codes }
  }

  test(`an export restored into ${other} with another secret key is usable, and is identical when exported again`, async () => {
    const { upstream, installation, gateway, token, codes } = await used()
    await using _upstream = upstream
    await using _installation = installation
    // The token now has an old and a new key. The restored installation must accept both.
    const { key: newKey } = await gateway.api<{ key: string }>('POST', `/api/token/${token.id}/rotate`, {})
    await gateway.api('PUT', '/api/token/', { id: token.id, project: 'Search' })
    await gateway.stop()
    const file = join(installation.folder, 'all.jsonl')
    expect((await installation.run('export', '-o', file)).code).toBe(0)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const text = readFileSync(file, 'utf8')
    expect(text).toContain('"project":"Search"')
    for (const secret of [token.key.replace('sk-', ''), newKey, codes[0], 'the mail password', 's3cret', '$argon2'])
      expect(text).not.toContain(String(secret))
    expect((await installation.run('export', '-o', file)).output).toContain('exists already')

    await using target = new Installation(await urlOf(other), {
      TOLLGATE_EXPORT_PASSPHRASE: passphrase,
      SECRET_KEY: secretKey,
    })
    await target.create()
    expect(isExport(text.split('\n')[0] ?? '')).toBe(true)
    const refused = await target.run('import', '--from', file, '--merge')
    expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('--merge cannot be used with it')])
    const restored = await target.run('import', '--from', file, '--json')
    expect(JSON.parse(restored.output)).toMatchObject({ skippedTokens: 0, skippedCodes: 0, keylessChannels: 0 })
    const again = join(target.folder, 'again.jsonl')
    expect((await target.run('export', '-o', again)).code).toBe(0)
    expect(readFileSync(again, 'utf8')).toBe(text)
    const audit = await target.run('audit')
    expect([audit.code, audit.output]).toEqual([0, expect.stringContaining('2 users, 1 tokens, 1 channels checked')])

    // A call with the token is sent through the channel with the channel's key, and users can log in with their
    // passwords.
    const moved = await target.start()
    const response = await moved.post('/v1/chat/completions', { model, messages }, token.key)
    expect([response.status, (await response.text()).length > 0]).toEqual([200, true])
    expect((await moved.post('/v1/chat/completions', { model, messages }, `sk-${newKey}`)).status).toBe(200)
    const login = await fetch(`${moved.url}/api/user/login`, {
      method: 'POST',
      body: JSON.stringify({ username: 'ada', password: 'password of ada' }),
    })
    expect(await login.json()).toMatchObject({ success: true })
    await moved.stop()
    expect((await target.run('audit')).code).toBe(0)
    const twice = await target.run('import', '--from', file)
    expect([twice.code, twice.output]).toEqual([1, expect.stringContaining('is not new: it has channels')])
  }, 180_000)

  test('export writes only the requested parts, and no secrets with --no-secrets', async () => {
    const { upstream, installation, token, codes } = await used()
    await using _upstream = upstream
    await using _installation = installation
    const { output } = await installation.run('export', '--no-secrets')
    for (const secret of [
      token.key.replace('sk-', ''),
      codes[0],
      'the mail password',
      's3cret',
      '$argon2',
      '"sealed":"',
    ])
      expect(output).not.toContain(String(secret))
    const users = await installation.run('export', '--only', 'users,options', '--no-secrets')
    const tables = new Set(users.output.split('\n').flatMap((line) => /^\{"table":"(\w+)"/.exec(line)?.[1] ?? []))
    expect([...tables]).toEqual(['users', 'options'])
    expect((await installation.run('export', '--only', 'nonsense', '--no-secrets')).output).toContain(
      'no part nonsense',
    )
    await using target = new Installation(undefined, { SECRET_KEY: secretKey })
    await target.create()
    const lines = output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .join('\n')
    expect(await restore(target, lines, undefined)).toMatchObject({
      skippedTokens: 1,
      skippedCodes: 2,
      keylessChannels: 1,
    })
    expect((await target.run('audit')).code).toBe(0)
  }, 120_000)

  test('restoreExport restores nothing from an export that is damaged, incomplete, changed or of a newer version', async () => {
    const { upstream, installation } = await used()
    await using _upstream = upstream
    await using _installation = installation
    const { output } = await installation.run('export', '--only', 'users,options,tokens,redemptions')
    const text = output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .join('\n')
    const lines = text.split('\n')
    const tokenLine = lines.findIndex((line) => line.startsWith('{"table":"tokens"'))
    const codeLines = lines.flatMap((line, at) => (line.startsWith('{"table":"redemptions"') ? [at] : []))
    const sealedOf = (at: number | undefined) => /"sealed":"([^"]+)"/.exec(lines[at ?? 0] ?? '')?.[1] ?? ''
    await using target = new Installation(undefined, { SECRET_KEY: secretKey })
    await target.create()
    const cases: [text: string, words: string, passphrase?: string][] = [
      ['', 'incomplete'],
      ['{"tollgate":"export"}', 'not an export'],
      ['[1]', 'not JSON'],
      [text.replace('"version":1', '"version":2'), 'newer version'],
      [text.replace('"users"', '"planets"'), 'does not know'],
      [lines.slice(0, -1).join('\n'), 'incomplete'],
      [lines.toSpliced(tokenLine, 1).join('\n'), 'checksum'],
      [text.replace('"role":1,', '"role":100,'), 'checksum'],
      [`${text}\n{}`, 'after its end'],
      [text.replace('{"table":"tokens"', '{"table":"sessions"'), 'not a row of its parts'],
      [text.slice(0, text.length / 2), 'damaged or incomplete'],
      [text, 'passphrase is not', 'another passphrase than before'],
      // A secret that is moved to another row cannot be decrypted there.
      [text.replace(sealedOf(codeLines[0]), sealedOf(codeLines[1])), 'cannot be opened'],
    ]
    for (const [damaged, words, given] of cases) {
      const error = await restore(target, damaged, given).catch((thrown: Error) => thrown)
      expect([damaged.slice(0, 60), error]).toEqual([
        damaged.slice(0, 60),
        expect.objectContaining({ message: expect.stringContaining(words) }),
      ])
    }
    const none = await restore(target, text, '').catch((thrown: Error) => thrown)
    expect(none).toMatchObject({ message: expect.stringContaining('passphrase') })
    // Nothing was changed: the first account is still there, and it is the only one.
    expect((await target.run('audit')).output).toContain('1 users, 0 tokens, 0 channels checked')
    const short = join(target.folder, 'short')
    writeFileSync(short, 'short\n')
    expect((await target.run('export', '--passphrase-file', short)).output).toContain('at least 12 characters')
    expect((await target.run('export')).output).toContain('--no-secrets')
  }, 120_000)

  test('export writes accounts, keys, codes and the log to databases for one-api and new-api, and leaves no file after a failure', async () => {
    const { upstream, installation, gateway, token, codes } = await used()
    await using _upstream = upstream
    await using _installation = installation
    const many = {
      name: 'several',
      type: 1,
      key: 'sk-one\nsk-two',
      key_mode: 'multi',
      models: 'm-a,m-b',
      group: 'default,vip',
    }
    await gateway.api('POST', '/api/channel/', many)
    const until = [1_700_000_000, 4_000_000_000]
    const expiring = openStore({ url: installation.databaseUrl })
    for (const [index, expired_time] of until.entries())
      await expiring.write((trx) =>
        trx
          .updateTable('redemptions')
          .set({ expired_time })
          .where('key', '=', codes[index] ?? '')
          .execute(),
      )
    await expiring.close()
    for (const program of ['one-api', 'new-api']) {
      const path = join(installation.folder, `${program}.db`)
      const { code, output } = await installation.run('export', '--format', program, '-o', path)
      expect([code, output]).toEqual([0, expect.stringContaining('2 users, 1 tokens, 3 channels, 2 codes')])
      expect(statSync(path).mode & 0o777).toBe(0o600)
      const file = new Database(path, { readonly: true })
      const rows = (text: string) => file.query(text).values()
      expect(rows('pragma integrity_check')).toEqual([['ok']])
      // When one-api and new-api start, they search this text for each column. The column must be in backquotes, and
      // the text must be one line.
      for (const [text] of rows("select sql from sqlite_master where type = 'table' and sql is not null") as string[][])
        expect(text).toMatch(/^CREATE TABLE `\w+` \((?:`\w+` [^\n`]+,)+(?:`\w+` [^\n`]+|primary key \([`\w,]+\))\)$/)
      expect(rows('select "key", remain_quota + used_quota from tokens')).toEqual([
        [token.key.replace('sk-', ''), 100_000],
      ])
      expect(rows('select "key" from redemptions order by id')).toEqual(codes.map((each) => [each]))
      // One-api does not support expiry, so an expired code is written as disabled.
      if (program === 'one-api') expect(rows('select status from redemptions order by id')).toEqual([[2], [1]])
      else
        expect(rows('select status, expired_time from redemptions order by id')).toEqual(
          until.map((expires) => [1, expires]),
        )
      expect(rows('select "key" from channels where name = \'several\' order by id')).toEqual([['sk-one'], ['sk-two']])
      expect(rows("select count(*) from abilities join channels on id = channel_id where name = 'several'")).toEqual([
        [8],
      ])
      expect(rows('select value from options where "key" = \'SMTPToken\'')).toEqual([['the mail password']])
      expect(rows('select count(*), sum(quota) from logs where type = 2')).toEqual(
        rows('select 3, sum(used_quota) from users'),
      )
      const [[root] = []] = rows('select password from users where id = 1') as string[][]
      const password = /password of root is "(\w+)"/.exec(output)?.[1] ?? ''
      expect(await Bun.password.verify(password, root ?? '')).toBe(true)
      file.close()
      expect((await installation.run('export', '--format', program, '-o', path)).output).toContain('exists already')
    }
    // If a key cannot be decrypted, the export ends and leaves no file.
    const store = openStore({ url: installation.databaseUrl })
    await store.write((trx) => trx.updateTable('tokens').set({ key: 'v1.AAAA' }).execute())
    await store.close()
    const path = join(installation.folder, 'broken.db')
    expect((await installation.run('export', '--format', 'one-api', '-o', path)).code).toBe(1)
    expect(existsSync(path)).toBe(false)
    expect((await installation.run('export', '--format', 'one-api')).output).toContain('--output')
  }, 120_000)
})
