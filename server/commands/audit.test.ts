import { expect, test } from 'bun:test'
import { forEachDatabaseUrl } from '../../test/helpers/databases.ts'
import { ok, startFakeUpstream } from '../../test/helpers/fake-upstream.ts'
import { Installation } from '../../test/helpers/gateway-process.ts'
import { answer, installFor, messages, model, newToken, promptTokens } from '../../test/money/installed.ts'
import { openStore } from '../store/connection/open.ts'

forEachDatabaseUrl((name, freshUrl) => {
  test('audit finds no faults in a consistent installation while it runs, and reports inconsistencies', async () => {
    await using upstream = await startFakeUpstream()
    upstream.always(ok({ text: answer, promptTokens }))
    await using installation = new Installation(name === 'postgres' ? await freshUrl() : undefined)
    const gateway = await installation.start()
    await installFor(gateway, upstream.url)
    const token = await newToken(gateway, 1000)
    for (let call = 0; call < 3; call++) {
      expect((await gateway.post('/v1/chat/completions', { model, messages }, token.key)).status).toBe(200)
    }
    const sound = await installation.run('audit')
    expect(sound.output).toContain('1 users, 1 tokens, 1 channels checked; 0 holds open; 0 faults.')
    expect(sound.code).toBe(0)

    const store = openStore({ url: installation.databaseUrl })
    await store.write(async (trx) => {
      await trx.updateTable('tokens').set({ remain_quota: 1_000_000 }).where('id', '=', token.id).execute()
      await trx.updateTable('users').set({ used_quota: 0 }).where('id', '=', 1).execute()
    })
    await store.close()
    const tampered = await installation.run('audit')
    expect(tampered.output).toContain(`token ${token.id}: granted 1000, but left 1000000 + held 0 + used 48 = 1000048`)
    expect(tampered.output).toContain('user 1: used 0, but the log rows sum to 48 and 0 are not in the log')
    expect(tampered.output).toContain('; 3 faults.')
    expect(tampered.code).toBe(1)
  }, 120_000)
})
