// HTML in every text that can be stored: the API returns it as plain text, in responses that no browser treats as a
// page, and emails contain it as escaped text. Numbers in titles, such as 8.5-1, are items of table.md.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { type OptionKey, optionDefinitions } from '../../contract/options.ts'
import { forEachDatabase } from '../helpers/databases.ts'
import { mailThrough, startMailServer } from '../helpers/mail-server.ts'
import { type Attacker, type Scene, scene } from './setup.ts'

setDefaultTimeout(120_000)

const script = '<script>alert(1)</script>'
const image = '<img src=x onerror=alert(1)>'

/**
 * Checks that browsers cannot treat the response as a page: its type is JSON, and `nosniff` stops them from guessing
 * another type.
 */
function expectNoPage(answer: { headers: Headers }): void {
  expect(answer.headers.get('content-type')).toStartWith('application/json')
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
}

forEachDatabase((_, openFresh) => {
  let set: Scene
  let user: Attacker
  let root: Attacker

  beforeEach(async () => {
    set = await scene(await openFresh())
    user = await set.person()
    root = await set.person(100)
  })
  afterEach(() => set.api.store.close())

  const call = (method: string, path: string, body?: unknown, as = root) =>
    set.api.call(method, path, { as: as.token, ...(body !== undefined && { body }) })

  test('8.5-1 8.6-13 HTML in the notice, the home page and other page texts is returned as it was saved, and only in JSON', async () => {
    for (const [key, path] of [
      ['Notice', '/api/notice'],
      ['About', '/api/about'],
      ['HomePageContent', '/api/home_page_content'],
    ] as const) {
      await call('PUT', '/api/option/', { key, value: `${script}${image}` })
      const answer = await set.api.call('GET', path)
      expect(answer.json.data).toBe(`${script}${image}`)
      expectNoPage(answer)
      expect((await call('PUT', '/api/option/', { key, value: script }, user)).json.success).toBe(false)
    }
    await call('PUT', '/api/option/', { key: 'Footer', value: image })
    await call('PUT', '/api/option/', { key: 'SystemName', value: script })
    const status = await set.api.call('GET', '/api/status')
    expect(status.json.data).toMatchObject({ footer_html: image, system_name: script })
    expectNoPage(status)
  })

  test('8.5-1 an option that is used as the URL of a link or an image cannot be a script', async () => {
    const links: OptionKey[] = ['ServerAddress', 'WeChatAccountQRCodeImageURL', 'Logo', 'TopUpLink', 'ChatLink']
    for (const key of links) {
      for (const value of [
        'javascript:alert(1)',
        'JaVaScRiPt:alert(1)',
        ' javascript:alert(1)',
        'java\tscript:alert(1)',
        'data:text/html,<script>alert(1)</script>',
        'data:image/svg+xml,<svg onload=alert(1)>',
        'vbscript:x',
        'file:///etc/passwd',
        '//evil.example/x',
        '"><script>',
      ]) {
        expect([key, value, (await call('PUT', '/api/option/', { key, value })).json.success]).toEqual([
          key,
          value,
          false,
        ])
      }
    }
  })

  test('HTML in stored texts of users, tokens, codes, channels, logs and the audit log is returned unchanged as JSON', async () => {
    const name = '<b>x</b><i>'
    expect((await call('POST', '/api/user/', { username: name, password: 'long enough' })).json.success).toBe(false)
    expect((await call('PUT', '/api/user/self', { username: name }, user)).json.success).toBe(false)
    await call('PUT', '/api/user/self', { display_name: name }, user)
    await call('PUT', '/api/user/', { id: user.id, group: name })
    await call('POST', '/api/token/', { name: script, models: script }, user)
    await call('POST', '/api/redemption/', { name, quota: 5 })
    await call('POST', '/api/topup', { user_id: user.id, quota: 5, remark: script })
    await call('POST', '/api/channel/', {
      type: 1,
      name: script,
      key: 'k',
      models: `m,${script}`,
      group: script,
      other: script,
      base_url: `https://example.com/${script}`,
      model_mapping: JSON.stringify({ m: script }),
      system_prompt: script,
    })
    await set.api.call('POST', '/api/user/login', { body: { username: script, password: script } })
    await call('PUT', '/api/option/', { key: 'GroupRatio', value: JSON.stringify({ default: 1, [script]: 1 }) })

    const seen: string[] = []
    for (const [path, who] of [
      ['/api/user/self', user],
      [`/api/user/${user.id}`, root],
      ['/api/user/', root],
      ['/api/user/search?keyword=%3Cb', root],
      ['/api/user/available_models', user],
      ['/api/token/', user],
      ['/api/token/search?keyword=%3C', user],
      ['/api/redemption/', root],
      ['/api/channel/', root],
      ['/api/log/self', user],
      ['/api/log/', root],
      ['/api/log/search?keyword=%3C', root],
      ['/api/audit/', root],
      ['/api/group/', root],
      ['/api/group/ratios', root],
      ['/api/option/', root],
    ] as const) {
      const answer = await call('GET', path, undefined, who)
      expect([path, answer.json.success]).toEqual([path, true])
      expectNoPage(answer)
      seen.push(JSON.stringify(answer.json))
    }
    expect(seen.filter((text) => text.includes('<')).length).toBeGreaterThan(10)
    // Error responses repeat parts of the request, and browsers must not treat them as pages either.
    for (const [method, path, body] of [
      ['GET', `/api/token/${encodeURIComponent(script)}`, undefined],
      ['GET', `/api/${encodeURIComponent(script)}`, undefined],
      ['PUT', '/api/option/', { key: script, value: '' }],
      ['POST', '/api/token/', { name: 'x', subnet: script }],
    ] as const) {
      expectNoPage(await call(method, path, body))
    }
  })

  test('HTML in names appears as text in emails, and line breaks in names add no headers', async () => {
    await using smtp = await startMailServer()
    await mailThrough(set.api, smtp)
    await call('PUT', '/api/option/', { key: 'SystemName', value: `${script}\r\nBcc: evil@example.com` })
    await set.api.store.write((trx) =>
      trx.updateTable('users').set({ email: 'user@example.com', username: image }).where('id', '=', user.id).execute(),
    )
    await set.api.call('GET', '/api/verification?email=somebody@example.com')
    await set.api.call('GET', '/api/reset_password?email=user@example.com')
    for (const mail of await smtp.arrived(2)) {
      expect(mail.html).not.toContain('<script')
      expect(mail.html).not.toContain('<img')
      expect(mail.html).toContain('&lt;script&gt;')
      expect(Object.keys(mail.headers)).not.toContain('bcc')
      expect(mail.to).toHaveLength(1)
    }
  })

  test('no option accepts text that breaks the console: each option rejects the text or stores it unchanged', async () => {
    for (const key of Object.keys(optionDefinitions) as OptionKey[]) {
      const { secret, kind } = optionDefinitions[key] as { secret?: true; kind: string }
      const { json } = await call('PUT', '/api/option/', { key, value: script })
      if (kind !== 'text' && kind !== 'list') expect([key, json.success]).toEqual([key, false])
      if (!json.success || secret) continue
      const stored = (await call('GET', '/api/option/')).json.data as { key: string; value: string }[]
      expect(stored.find((option) => option.key === key)?.value).toBe(script)
    }
  })
})
