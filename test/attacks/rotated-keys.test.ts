// After a token has received a new key, its old key works until its end time and not a second longer. Only the owner
// can change that time.
import { expect, setDefaultTimeout, test } from 'bun:test'
import type { Token } from '../../contract/api/token.ts'
import { forgetOldKeys } from '../../server/store/accounts/tokens.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { ok, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { startTestGateway } from '../helpers/test-gateway.ts'

setDefaultTimeout(60_000)

const hour = 3600

forEachDatabaseUrl((name, freshUrl) => {
  test('rotated keys: an old key works until its end time, or until its owner ends it earlier', async () => {
    await using upstream = await startFakeUpstream()
    upstream.always(ok())
    const time = { ms: 1_790_000_000_500 }
    await using gateway = await startTestGateway({
      ...(name === 'postgres' && { databaseUrl: await freshUrl() }),
      clock: { nowMs: () => time.ms },
    })
    await gateway.addChannel({ base_url: upstream.url, models: 'gpt-4o' })
    const body = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello.' }] }
    const status = async (key: string) => {
      const response = await gateway.post('/v1/chat/completions', body, `sk-${key}`)
      await response.text()
      return response.status
    }
    const rotate = (keep_seconds?: number) =>
      gateway.api<Token>('POST', `/api/token/${id}/rotate`, keep_seconds === undefined ? {} : { keep_seconds })
    const { id, key: first } = await gateway.api<Token>('POST', '/api/token/', { name: 'app', unlimited_quota: true })
    expect(await status(first)).toBe(200)

    const now = Math.floor(time.ms / 1000)
    const rotated = await rotate(hour)
    const second = rotated.key
    expect(second).toMatch(/^[0-9A-Za-z]{48}$/)
    expect(second).not.toBe(first)
    expect(rotated.old_key_until).toBe(now + hour)
    expect([await status(first), await status(second), await status(`${first}-1`)]).toEqual([200, 200, 200])
    expect((await gateway.api<Token[]>('GET', '/api/token/'))[0]).toMatchObject({ id, old_key_until: now + hour })
    expect(await gateway.api<Token>('POST', '/api/token/find', { key: `sk-${first}` })).toMatchObject({ id })
    // Checks the last millisecond and the next one. The cache must not keep the key valid for longer.
    time.ms = (now + hour) * 1000 - 1
    expect([await status(first), await status(second)]).toEqual([200, 200])
    time.ms += 1
    expect([await status(first), await status(`${first}-1`), await status(second)]).toEqual([401, 401, 200])
    expect((await gateway.api<Token>('GET', `/api/token/${id}`)).old_key_until).toBe(0)
    await expect(gateway.api('POST', '/api/token/find', { key: first })).rejects.toThrow('No token has this key')
    await gateway.context.store.write((trx) => forgetOldKeys(trx, now + hour))

    // The old key ends immediately, although it is in the cache.
    const third = (await rotate(0)).key
    expect([await status(second), await status(third)]).toEqual([401, 200])
    // A token has at most one old key. After two rotations, it is the key that the second rotation replaced.
    const fourth = (await rotate()).key
    const fifth = (await rotate()).key
    expect([await status(third), await status(fourth), await status(fifth)]).toEqual([401, 200, 200])
    const ended = await gateway.api<Token>('DELETE', `/api/token/${id}/old-key`)
    expect(ended).toMatchObject({ key: fifth, old_key_until: 0 })
    expect([await status(fourth), await status(fifth)]).toEqual([401, 200])
    // Ending the old key again changes nothing.
    await gateway.api<Token>('DELETE', `/api/token/${id}/old-key`)

    // Disabling the token also disables its old key.
    const sixth = (await rotate()).key
    await gateway.api('PUT', '/api/token/?status_only=true', { id, status: 2 })
    expect([await status(fifth), await status(sixth)]).toEqual([401, 401])
    await gateway.api('PUT', '/api/token/?status_only=true', { id, status: 1 })
    expect(await status(fifth)).toBe(200)

    // No key is in plain text in the token's row, the logs or the audit log. Responses never contain an old key.
    const { read } = gateway.context.store
    const row = await read.selectFrom('tokens').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    const audit = await read.selectFrom('audit_events').selectAll().execute()
    const stored = JSON.stringify([row, audit, await read.selectFrom('logs').selectAll().execute()])
    for (const key of [first, second, third, fourth, fifth, sixth]) expect(stored).not.toContain(key)
    const shown = JSON.stringify(await gateway.api('GET', '/api/token/'))
    expect(shown).not.toContain(fifth)
    expect(shown).not.toContain('old_key_hash')
    const actions = audit.map(({ action }) => action)
    expect(actions.filter((action) => action === 'token.rotate')).toHaveLength(5)
    expect(actions.filter((action) => action === 'token.end-old-key')).toHaveLength(1)

    for (const keep of [-1, 86_401, 1.5, '0', null])
      await expect(gateway.api('POST', `/api/token/${id}/rotate`, { keep_seconds: keep })).rejects.toThrow(
        'keep_seconds',
      )
    await gateway.api('DELETE', `/api/token/${id}`)
    expect([await status(fifth), await status(sixth)]).toEqual([401, 401])
  })
})
