import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../test/helpers/databases.ts'
import { mailThrough, setOptions, startMailServer } from '../../test/helpers/mail-server.ts'
import { startService, startTurnstile, type TurnstileServer } from '../../test/helpers/outside-services.ts'

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let turnstile: TurnstileServer

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    turnstile = await startTurnstile()
    await setOptions(api, {
      TurnstileCheckEnabled: 'true',
      TurnstileSiteKey: 'site key',
      TurnstileSecretKey: turnstile.secret,
      TurnstileVerifyURL: turnstile.url,
    })
  })
  afterEach(async () => {
    await turnstile[Symbol.asyncDispose]()
    await api.mailer.idle()
    await api.store.close()
  })

  let made = 0
  const register = (answer?: string) =>
    api.call('POST', `/api/user/register${answer === undefined ? '' : `?turnstile=${encodeURIComponent(answer)}`}`, {
      body: { username: `user${++made}`, password: 'correct horse' },
    })

  test('registration and both calls that send emails each need a new bot-check answer, but a login needs none', async () => {
    await using smtp = await startMailServer()
    await mailThrough(api, smtp)
    const calls: ((answer?: string) => Promise<{ json: { success: boolean; message: string } }>)[] = [
      register,
      ...['verification', 'reset_password'].map(
        (path) =>
          (answer = '') =>
            api.call('GET', `/api/${path}?email=user${++made}@example.com&turnstile=${answer}`),
      ),
    ]
    for (const call of calls) {
      expect((await call()).json.message).toBe('The response of the bot check is missing.')
      expect((await call('made up')).json.message).toContain('bot check failed')
      const answer = turnstile.solve()
      expect((await call(answer)).json).toEqual({ success: true, message: '' })
      expect((await call(answer)).json.message).toContain('bot check failed')
    }
    const login = await api.call('POST', '/api/user/login', { body: { username: 'x', password: 'correct horse' } })
    expect(login.json.message).not.toContain('bot check')
    const sent = new URLSearchParams(turnstile.requests.at(-1)?.body)
    expect(sent.get('remoteip')).toBe('203.0.113.9')
  })

  test('a solved challenge is valid for only one call, and an answer cannot add parameters to the verification request', async () => {
    const cookie = (await register(turnstile.solve())).headers.getSetCookie().join()
    expect(cookie).toBe('')
    expect((await register()).json.success).toBe(false)
    await register('x&secret=other&response=y')
    const sent = new URLSearchParams(turnstile.requests.at(-1)?.body)
    expect(sent.getAll('secret')).toEqual([turnstile.secret])
    expect(sent.getAll('response')).toEqual(['x&secret=other&response=y'])
    const before = turnstile.requests.length
    expect((await register('x'.repeat(3000))).json.success).toBe(false)
    expect(turnstile.requests).toHaveLength(before)
  })

  test('refuses an answer that cannot be verified because there is no secret, or because the service is down or returns nonsense', async () => {
    await setOptions(api, { TurnstileSecretKey: '' })
    expect((await register(turnstile.solve())).json.message).toContain('secret key')
    await setOptions(api, { TurnstileSecretKey: 'a secret of ours' })
    for (const answer of ['<html>', '{"ok": true}', '{"success": "true"}']) {
      await using odd = await startService((_request, response) => response.end(answer))
      await setOptions(api, { TurnstileVerifyURL: odd.url })
      expect([answer, (await register('x')).json.success]).toEqual([answer, false])
    }
    await setOptions(api, { TurnstileVerifyURL: 'http://127.0.0.1:1/' })
    expect((await register('x')).json.message).toContain('cannot be reached')
    expect(api.warnings.length).toBeGreaterThan(0)
    expect(api.warnings.join()).not.toContain('a secret of ours')
    expect(await api.store.read.selectFrom('users').selectAll().execute()).toEqual([])
  })

  test('the status document contains the features that the console should offer', async () => {
    const status = async () => (await api.call('GET', '/api/status')).json.data
    expect(await status()).toMatchObject({ turnstile_check: true, turnstile_site_key: 'site key', github_oauth: false })
    await setOptions(api, { TurnstileCheckEnabled: 'false', GitHubOAuthEnabled: 'true', WeChatAuthEnabled: 'true' })
    // These features are on but not configured, so their buttons would not work.
    expect(await status()).toMatchObject({ turnstile_check: false, github_oauth: false, wechat_login: false })
    await setOptions(api, { GitHubClientId: 'id', WeChatServerAddress: 'http://wechat.internal' })
    await setOptions(api, { WeChatAccountQRCodeImageURL: '/qr.png', EmailVerificationEnabled: 'true' })
    expect(await status()).toMatchObject({
      github_oauth: true,
      github_client_id: 'id',
      wechat_login: true,
      wechat_qrcode: '/qr.png',
      email_verification: true,
    })
  })
})
