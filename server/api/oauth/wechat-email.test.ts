import { afterEach, beforeEach, expect, test } from 'bun:test'
import { cookieOf, createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { mailThrough, setOptions, startMailServer } from '../../../test/helpers/mail-server.ts'
import { startService, startWeChatHelper, type WeChatHelper } from '../../../test/helpers/outside-services.ts'

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let helper: WeChatHelper

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    helper = await startWeChatHelper()
    await setOptions(api, {
      WeChatAuthEnabled: 'true',
      WeChatServerAddress: helper.url,
      WeChatServerToken: helper.token,
    })
  })
  afterEach(async () => {
    await helper[Symbol.asyncDispose]()
    await api.mailer.idle()
    await api.store.close()
  })

  const login = (code: string) => api.call('GET', `/api/oauth/wechat?code=${encodeURIComponent(code)}`)
  const bind = (code: string, as: string) =>
    api.call('GET', `/api/oauth/wechat/bind?code=${encodeURIComponent(code)}`, { as })
  const rows = () => api.store.read.selectFrom('users').selectAll().orderBy('id').execute()

  test('WeChat: a first login creates an account, and the next login finds it', async () => {
    const first = await login(helper.codeFor('wx-1'))
    const [user] = await rows()
    expect(first.json).toMatchObject({
      success: true,
      message: '',
      data: { id: user?.id, display_name: 'WeChat User' },
    })
    expect(user).toMatchObject({ username: `wechat_${user?.id}`, wechat_id: 'wx-1', password: '' })
    expect((await api.call('GET', '/api/user/self', { cookie: cookieOf(first) })).json.data.id).toBe(user?.id)
    expect((await login(helper.codeFor('wx-1'))).json.data.id).toBe(user?.id)
    expect(helper.requests[0]?.headers.authorization).toBe(helper.token)
  })

  test('WeChat: a logged-in user connects an account, which then cannot be connected to another user', async () => {
    const [ada, bob] = [await api.addPerson(), await api.addPerson()]
    expect((await bind(helper.codeFor('wx-1'), ada.token)).json).toEqual({ success: true, message: '' })
    expect((await bind(helper.codeFor('wx-1'), bob.token)).json.message).toContain('already connected')
    expect((await login(helper.codeFor('wx-1'))).json.data.id).toBe(ada.id)
    expect((await api.call('GET', '/api/oauth/wechat/bind?code=x')).status).toBe(401)
  })

  test('WeChat: wrong, used and empty codes are refused', async () => {
    const code = helper.codeFor('wx-1')
    expect((await login(code)).json.success).toBe(true)
    for (const each of [code, 'wrong', '', ' ']) {
      expect([each, (await login(each)).json.success]).toEqual([each, false])
    }
  })

  test('WeChat: a code cannot add parameters to the call to the helper or change its path', async () => {
    const evil = 'x&code=other#/../../admin?a=b %00\r\nX-Evil: 1'
    await login(evil)
    const [request] = helper.requests
    const { pathname, searchParams } = new URL(request?.url ?? '', helper.url)
    expect(pathname).toBe('/api/wechat/user')
    expect([...searchParams]).toEqual([['code', evil]])
    expect(request?.headers).not.toHaveProperty('x-evil')
  })

  test('WeChat: the helper may be in a private network, but no option or redirect can lead to a metadata service', async () => {
    const root = await api.addPerson({ role: 100 })
    const put = async (value: string) => {
      const body = { key: 'WeChatServerAddress', value }
      return (await api.call('PUT', '/api/option/', { as: root.token, body })).json.success
    }
    expect(await put('http://192.168.1.5:3000/')).toBe(true)
    for (const address of [
      'http://169.254.169.254',
      'http://0xa9fea9fe/',
      'http://[::ffff:a9fe:a9fe]',
      'http://metadata.google.internal',
      'ftp://192.168.1.5',
      'javascript:alert(1)',
      '/helper',
    ]) {
      expect([address, await put(address)]).toEqual([address, false])
    }
    // Even if the address of a metadata service is already stored, the gateway does not call it or send the token.
    await setOptions(api, { WeChatServerAddress: 'http://169.254.169.254' })
    expect((await login('x')).json.message).toContain('cannot be reached')
    await using target = await startService((_request, response) => response.end('{"success": true, "data": "wx-1"}'))
    await using moved = await startService((_request, response) =>
      response.writeHead(307, { location: target.url }).end(),
    )
    await setOptions(api, { WeChatServerAddress: moved.url })
    expect((await login('x')).json.success).toBe(false)
    expect(target.requests).toEqual([])
    expect(await rows()).toHaveLength(1)
  })

  test('WeChat: a disabled login, closed registration and banned people are refused', async () => {
    await login(helper.codeFor('wx-1'))
    await api.store.write((trx) => trx.updateTable('users').set({ status: 2 }).execute())
    expect((await login(helper.codeFor('wx-1'))).json.message).toBe('This account has been banned.')
    await setOptions(api, { RegisterEnabled: 'false' })
    expect((await login(helper.codeFor('wx-2'))).json.message).toContain('Registration is closed')
    await setOptions(api, { WeChatAuthEnabled: 'false' })
    expect((await login(helper.codeFor('wx-2'))).json.message).toContain('not enabled')
    expect((await api.call('GET', '/api/status')).json.data.wechat_login).toBe(false)
  })

  test('WeChat: many simultaneous first logins of one person create one account', async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => login(helper.codeFor('wx-1'))))
    expect(answers.map(({ json }) => json.success)).toEqual([true, true, true, true])
    expect(await rows()).toHaveLength(1)
  })

  test('email: the emailed code connects the address once, and a taken address is refused', async () => {
    await using smtp = await startMailServer()
    await mailThrough(api, smtp)
    const [ada, bob] = [await api.addPerson(), await api.addPerson()]
    const email = 'Ada+x@example.com'
    const bindMail = (code: string, as: string) =>
      api.call('GET', `/api/oauth/email/bind?email=${encodeURIComponent(email)}&code=${code}`, { as })
    const codeOf = async (count: number) =>
      /\b\d{6}\b/.exec((await smtp.arrived(count))[count - 1]?.text ?? '')?.[0] ?? ''
    await api.call('GET', `/api/verification?email=${encodeURIComponent(email)}`)
    const code = await codeOf(1)
    expect((await api.call('GET', `/api/oauth/email/bind?email=a@b.co&code=${code}`)).status).toBe(401)
    expect((await bindMail('', ada.token)).json.success).toBe(false)
    expect((await bindMail(code, ada.token)).json).toEqual({ success: true, message: '' })
    expect((await rows())[0]).toMatchObject({ id: ada.id, email })
    expect((await bindMail(code, ada.token)).json.message).toContain('wrong or has expired')
    expect(await api.store.read.selectFrom('audit_events').select(['action', 'detail']).execute()).toEqual([
      { action: 'user.bind-email', detail: `email="" → "${email}"` },
    ])

    // A code that was sent while the address was free is invalid once the address is taken.
    await api.store.write((trx) => trx.updateTable('users').set({ email: '' }).execute())
    api.time.ms += 60_000
    await api.call('GET', `/api/verification?email=${encodeURIComponent(email)}`)
    const late = await codeOf(2)
    await api.store.write((trx) =>
      trx.updateTable('users').set({ email: email.toLowerCase() }).where('id', '=', ada.id).execute(),
    )
    expect((await bindMail(late, bob.token)).json.message).toContain('already belongs to another account')
  })

  test('email: the old address is notified only when another address replaces it', async () => {
    await using smtp = await startMailServer()
    await mailThrough(api, smtp)
    const ada = await api.addPerson({ username: 'ada' })
    let mails = 0
    async function bindTo(email: string) {
      api.time.ms += 60_000
      await api.call('GET', `/api/verification?email=${email}`)
      const code = /\b\d{6}\b/.exec((await smtp.arrived(++mails)).at(-1)?.text ?? '')?.[0]
      const headers = { 'accept-language': 'zh' }
      const path = `/api/oauth/email/bind?email=${email}&code=${code}`
      expect((await api.call('GET', path, { as: ada.token, headers })).json).toEqual({ success: true, message: '' })
      await api.mailer.idle()
    }
    await bindTo('old@example.com')
    expect(smtp.mails).toHaveLength(1)
    await bindTo('new@example.com')
    expect(smtp.mails).toHaveLength(3)
    const told = smtp.mails.at(-1)
    expect(told?.to).toEqual(['old@example.com'])
    expect(told?.headers.subject).toContain('您的账户已更换邮箱')
    expect(told?.text).toContain('ada')
    expect(told?.text).not.toContain('new@example.com')
  })

  test('email: a code becomes invalid after five wrong attempts', async () => {
    await using smtp = await startMailServer()
    await mailThrough(api, smtp)
    const { token } = await api.addPerson()
    await api.call('GET', '/api/verification?email=a@example.com')
    const code = /\b\d{6}\b/.exec((await smtp.arrived(1))[0]?.text ?? '')?.[0] ?? ''
    const bindMail = (given: string) =>
      api.call('GET', `/api/oauth/email/bind?email=a@example.com&code=${given}`, { as: token })
    for (let i = 0; i < 5; i++) expect((await bindMail(`wrong${i}`)).json.success).toBe(false)
    expect((await bindMail(code)).json.success).toBe(false)
  })

  test('the invite code is created on first use and then stays the same', async () => {
    const ada = await api.addPerson()
    await api.store.write((trx) => trx.updateTable('users').set({ aff_code: null }).execute())
    const aff = async () => (await api.call('GET', '/api/user/aff', { as: ada.token })).json.data
    const code = await aff()
    expect(code).toMatch(/^[0-9A-Za-z]{8}$/)
    expect(await aff()).toBe(code)
    expect((await api.call('GET', '/api/user/aff')).status).toBe(401)
  })
})
