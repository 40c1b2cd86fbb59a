import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OptionDefinition } from '../contract/option-kinds.ts'
import { optionDefinitions } from '../contract/options.ts'
import { openStore } from '../server/store/connection/open.ts'
import { saveOption } from '../server/store/installation/options.ts'
import { forEachDatabaseUrl } from './helpers/databases.ts'
import { Installation } from './helpers/gateway-process.ts'
import { startMailServer } from './helpers/mail-server.ts'

const secretKeys = Object.entries<OptionDefinition>(optionDefinitions).flatMap(([key, { secret }]) =>
  secret ? [key] : [],
)
/** The secret value for an option. It is a URL because one of the options must be a URL. */
const plainOf = (key: string) => `https://hooks.example/plain-secret-of-${key}`

forEachDatabaseUrl((name, freshUrl) => {
  /** Everything that can be read with access to the database. */
  async function storedBytes(installation: Installation): Promise<string> {
    if (name === 'sqlite') {
      const files = readdirSync(installation.folder).filter((file) => file.startsWith('tollgate.db'))
      return files.map((file) => readFileSync(join(installation.folder, file), 'latin1')).join('')
    }
    const store = openStore({ url: installation.databaseUrl })
    const rows = await Promise.all([
      store.read.selectFrom('options').selectAll().execute(),
      store.read.selectFrom('audit_events').selectAll().execute(),
    ])
    await store.close()
    return JSON.stringify(rows)
  }

  test('secret options are not in plain text anywhere in the database or in any response', async () => {
    await using installation = new Installation(name === 'postgres' ? await freshUrl() : undefined)
    const gateway = await installation.start()
    const put = (key: string, value: string) => gateway.api('PUT', '/api/option/', { key, value })
    expect(secretKeys.length).toBeGreaterThan(4)
    for (const key of secretKeys) await put(key, plainOf(key))
    for (const key of secretKeys) await put(key, `${plainOf(key)}-2`)
    await put('SystemName', 'shown as it is')
    const stored = await storedBytes(installation)
    expect(['shown as it is', ...secretKeys].filter((text) => !stored.includes(text))).toEqual([])
    expect(secretKeys.filter((key) => stored.includes(plainOf(key)))).toEqual([])
    const answers = JSON.stringify([await gateway.api('GET', '/api/option/'), await gateway.api('GET', '/api/audit/')])
    expect(answers).toContain('shown as it is')
    for (const key of secretKeys) expect(answers).not.toContain(plainOf(key))
    expect(await gateway.stop()).toBe(0)
    expect((await storedBytes(installation)).includes('plain-secret-of-')).toBe(false)
  }, 120_000)

  test('secrets that an older version stored in plain text work, and are encrypted at the next start', async () => {
    await using smtp = await startMailServer()
    await using installation = new Installation(name === 'postgres' ? await freshUrl() : undefined)
    await installation.create()
    const store = openStore({ url: installation.databaseUrl })
    const options = {
      SMTPServer: '127.0.0.1',
      SMTPPort: String(smtp.port),
      SMTPAccount: 'mailer',
      SMTPFrom: 'gate@example.com',
      SMTPToken: 'mail secret',
      // This is longer than a page of the database file.
      GitHubClientSecret: 'long secret '.repeat(2000),
    }
    await store.write(async (trx) => {
      for (const [key, value] of Object.entries(options)) await saveOption(trx, key, value)
    })
    await store.close()
    expect((await storedBytes(installation)).includes('mail secret')).toBe(true)

    const gateway = await installation.start()
    const stored = await storedBytes(installation)
    const found = ['gate@example.com', 'mail secret', 'long secret'].filter((text) => stored.includes(text))
    expect(found).toEqual(['gate@example.com'])
    await gateway.api('POST', '/api/option/test_mail', { email: 'ops@example.com' })
    expect((await smtp.arrived(1))[0]).toMatchObject({ to: ['ops@example.com'], user: 'mailer' })
  }, 120_000)

  test('an encrypted text that is moved to another option cannot be decrypted there', async () => {
    await using installation = new Installation(name === 'postgres' ? await freshUrl() : undefined)
    const first = await installation.start()
    await first.api('PUT', '/api/option/', { key: 'SMTPToken', value: 'mail secret' })
    await first.stop()
    const store = openStore({ url: installation.databaseUrl })
    await store.write((trx) =>
      trx.updateTable('options').set({ key: 'MessagePusherToken' }).where('key', '=', 'SMTPToken').execute(),
    )
    await store.close()
    const second = await installation.start()
    expect(second.said()).toContain('option MessagePusherToken has an invalid stored value')
    expect(second.said()).not.toContain('mail secret')
  }, 120_000)
})
