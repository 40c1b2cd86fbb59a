import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { mailThrough, setOptions, startMailServer } from '../../../test/helpers/mail-server.ts'

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let root: { id: number; token: string }

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    root = await api.addPerson({ username: 'root', role: 100 })
  })
  afterEach(() => api.store.close())

  const send = (body: object, as = root.token) => api.call('POST', '/api/option/test_mail', { as, body })

  test("a test email is sent to the given address, otherwise to the caller's own", async () => {
    await using smtp = await startMailServer({ tls: 'starttls' })
    await mailThrough(api, smtp, 'starttls')
    expect((await send({})).json.message).toContain('Enter an email address')
    expect((await send({ email: 'ops+gate@example.com' })).json).toEqual({ success: true, message: '' })
    await api.store.write((trx) => trx.updateTable('users').set({ email: 'root@example.com' }).execute())
    expect((await send({})).json.success).toBe(true)
    const mails = await smtp.arrived(2)
    expect(mails.map(({ to, secure }) => [to[0], secure])).toEqual([
      ['ops+gate@example.com', true],
      ['root@example.com', true],
    ])
    expect(mails[0]?.headers).toMatchObject({
      subject: 'Tollgate: test email',
      from: expect.stringContaining('Tollgate'),
    })
    expect(mails[0]?.text).toContain('Your email settings work')
  })

  test("a failure contains the mail server's message, without the password", async () => {
    expect((await send({ email: 'a@b.co' })).json.message).toContain('SMTPServer')
    await using smtp = await startMailServer()
    await mailThrough(api, smtp)
    await setOptions(api, { SMTPToken: 'not the password' })
    const { message } = (await send({ email: 'a@b.co' })).json
    expect(message).toContain('wrong account or password')
    expect(message).not.toContain('not the password')
  })

  test('only root can send a test email', async () => {
    const admin = await api.addPerson({ role: 10 })
    expect((await send({ email: 'a@b.co' }, admin.token)).json.message).toContain('permission')
    expect((await api.call('POST', '/api/option/test_mail', { body: {} })).status).toBe(401)
  })

  test('addresses that the server calls may be private, but must not be a metadata service', async () => {
    const put = async (key: string, value: string) =>
      (await api.call('PUT', '/api/option/', { as: root.token, body: { key, value } })).json.success
    for (const key of ['GitHubOAuthBaseURL', 'GitHubApiBaseURL', 'TurnstileVerifyURL', 'WeChatServerAddress']) {
      expect([key, await put(key, 'http://10.0.0.8:8080')]).toEqual([key, true])
      expect([key, await put(key, 'http://169.254.169.254/')]).toEqual([key, false])
      expect([key, await put(key, '/relative')]).toEqual([key, false])
    }
    expect(await put('SMTPServer', 'metadata.google.internal')).toBe(false)
    expect(await put('SMTPServer', 'smtp.example.com')).toBe(true)
  })
})
