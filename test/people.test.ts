// Accounts and emails in a complete gateway. Some jobs and hooks are connected only when a whole gateway starts.
import { expect, test } from 'bun:test'
import { forEachDatabaseUrl } from './helpers/databases.ts'
import { startMailServer } from './helpers/mail-server.ts'
import { startService } from './helpers/outside-services.ts'
import { startTestGateway } from './helpers/test-gateway.ts'

forEachDatabaseUrl((kind, freshUrl) => {
  test('a user who registers over HTTP can log in and create a token, and root gets an email when a channel is disabled', async () => {
    await using smtp = await startMailServer()
    await using upstream = await startService((_request, response) =>
      response
        .writeHead(401, { 'content-type': 'application/json' })
        .end(
          '{"error": {"message": "Incorrect API key provided", "type": "invalid_request_error", "code": "invalid_api_key"}}',
        ),
    )
    // Without a URL, the gateway creates its own SQLite file.
    await using gate = await startTestGateway(kind === 'postgres' ? { databaseUrl: await freshUrl() } : {})
    for (const [key, value] of Object.entries({
      SMTPServer: '127.0.0.1',
      SMTPPort: String(smtp.port),
      SMTPFrom: 'gate@example.com',
      AutomaticDisableChannelEnabled: 'true',
    })) {
      await gate.setOption(key, value)
    }
    await gate.context.store.write((trx) =>
      trx.updateTable('users').set({ email: 'root@example.com' }).where('username', '=', 'root').execute(),
    )

    const post = async (path: string, body: object, cookie = '') => {
      const response = await fetch(gate.url + path, { method: 'POST', body: JSON.stringify(body), headers: { cookie } })
      const answer = (await response.json()) as { success: boolean }
      return { ...answer, cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
    }
    const who = { username: 'ada', password: 'correct horse' }
    expect((await post('/api/user/register', who)).success).toBe(true)
    const { cookie } = await post('/api/user/login', who)
    expect((await post('/api/token/', { name: 'mine' }, cookie)).success).toBe(true)

    await gate.addChannel({ base_url: upstream.url, name: 'first' })
    const call = await gate.post('/v1/chat/completions', {
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'hi' }],
    })
    expect(call.ok).toBe(false)
    const [mail] = await smtp.arrived(1)
    expect(mail?.to).toEqual(['root@example.com'])
    expect(`${mail?.headers.subject} ${mail?.text}`).toContain('first')
    expect(mail?.text).not.toContain('upstream-key')
  })
})
