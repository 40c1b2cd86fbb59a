// The headers, parameters, status map and proxy of a channel: which values are allowed, and who may change the host
// that receives their secrets.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { forEachDatabase } from '../helpers/databases.ts'
import { type Attacker, type Scene, scene } from './setup.ts'

setDefaultTimeout(120_000)

const plain = { type: 1, name: 'c', key: 'sk-upstream', models: 'm', base_url: 'https://own.example' }

forEachDatabase((_, openFresh) => {
  let set: Scene
  let admin: Attacker
  let root: Attacker

  beforeEach(async () => {
    set = await scene(await openFresh())
    admin = await set.person(10)
    root = await set.person(100)
  })
  afterEach(() => set.api.store.close())

  const create = async (fields: object = {}) =>
    (await set.api.call('POST', '/api/channel/', { as: admin.token, body: { ...plain, ...fields } })).json
  const change = async (id: number, fields: object, as = admin) =>
    (await set.api.call('PUT', '/api/channel/', { as: as.token, body: { id, ...fields } })).json
  const codeOf = async (fields: object) => (await create(fields)).code

  test('headers that belong to the connection, to the key or to the gateway are refused in any spelling', async () => {
    const names = [
      'Authorization',
      ' authorization ',
      'X-API-Key',
      'api-key',
      'x-goog-api-key',
      'Host',
      'Connection',
      'Keep-Alive',
      'TE',
      'Trailer',
      'Transfer-Encoding',
      'Upgrade',
      'Proxy-Authorization',
      'Cookie',
      'Content-Length',
      'Content-Type',
      'Accept-Encoding',
      'X-Amz-Date',
      'X-Tollgate-Via',
      'Sec-WebSocket-Protocol',
    ]
    for (const name of names) expect([name, await codeOf({ headers: { [name]: 'x' } })]).toEqual([name, 'header_own'])
    for (const name of ['', 'a b', 'a:b', 'a\r\nb', 'ä', ':path'])
      expect([name, await codeOf({ headers: { [name]: 'x' } })]).toEqual([name, 'header_name_invalid'])
    for (const value of ['a\r\nauthorization: b', 'ü', 'a\tb'])
      expect([value, await codeOf({ headers: { 'x-a': value } })]).toEqual([value, 'value_not_ascii'])
    expect(await codeOf({ headers: { 'x-a': '1', 'X-A': '2' } })).toBe('header_twice')
    expect(await codeOf({ organization: 'a\r\nx: y' })).toBe('value_not_ascii')
    const many = Object.fromEntries(Array.from({ length: 31 }, (_, index) => [`x-${index}`, '1']))
    expect((await create({ headers: many })).success).toBe(false)
  })

  test('parameters that decide the price or the response are refused, and so are paths to JavaScript prototypes', async () => {
    const own = ['model', 'stream', 'messages', 'input', 'tools', 'n', 'service_tier', 'stream_options', 'serviceTier']
    for (const path of [...own, 'generationConfig.candidateCount', 'tools.x'])
      for (const op of ['set', 'default', 'cap', 'drop'])
        expect([path, op, await codeOf({ parameters: [{ op, path, value: 1 }] })]).toEqual([path, op, 'parameter_own'])
    for (const path of ['max_tokens', 'max_completion_tokens', 'generationConfig.maxOutputTokens'])
      for (const op of ['set', 'default'])
        expect(await codeOf({ parameters: [{ op, path, value: 9 }] })).toBe('parameter_cap_only')
    const hidden = { op: 'set', path: 'generationConfig', value: { a: [{ maxOutputTokens: 9 }] } }
    expect(await codeOf({ parameters: [hidden] })).toBe('parameter_cap_only')
    for (const path of ['__proto__', 'a.__proto__.b', 'constructor.prototype.x', 'a..b', 'a b', '', 'a.b.c.d.e.f'])
      expect([path, await codeOf({ parameters: [{ op: 'set', path, value: 1 }] })]).toEqual([path, 'parameter_path'])
    expect(await codeOf({ parameters: [{ op: 'cap', path: 'top_k', value: 'x' }] })).toBe('parameter_cap_number')
    expect(await codeOf({ parameters: [{ op: 'set', path: 'top_k' }] })).toBe('parameter_value_missing')
    expect((await create({ parameters: [{ op: 'run', path: 'x', value: 1 }] })).success).toBe(false)
    expect(({} as Record<string, unknown>)['b']).toBeUndefined()
  })

  test('a proxy must be an HTTP URL of a host that is not a metadata service, and a status map may contain only error statuses', async () => {
    for (const proxy of ['socks5://127.0.0.1:1080', 'SOCKS5h://x:1'])
      expect(await codeOf({ proxy })).toBe('proxy_socks')
    for (const proxy of ['file:///etc/passwd', 'ftp://x', 'x:80', 'javascript:1'])
      expect(await codeOf({ proxy })).toBe('proxy_scheme')
    expect(await codeOf({ proxy: 'http://name:secret@proxy.example:80' })).toBe('proxy_userinfo')
    expect(await codeOf({ proxy: 'http://proxy.example/path' })).toBe('proxy_path')
    for (const proxy of ['http://169.254.169.254', 'http://2852039166:80', 'http://[fd00:ec2::254]'])
      expect([proxy, await codeOf({ proxy })]).toEqual([proxy, 'proxy_metadata'])
    expect(await codeOf({ proxy: 'http://p.example', proxy_login: 'no colon' })).toBe('proxy_login_form')
    for (const map of [{ '200': 500 }, { '500': 200 }, { '99': 500 }, { '500': 600 }, { abc: 500 }])
      expect((await create({ status_map: map })).code).toBe('status_map_range')
  })

  test('an admin cannot set a proxy or a header that could reveal a stored key, but root can', async () => {
    const [id] = (await create({ headers: { 'x-team': 'a', 'x-old': 'b' } })).data
    expect((await change(id, { proxy: 'http://attacker.example' })).code).toBe('key_needed_for_proxy')
    expect((await change(id, { headers: { 'x-target-url': 'https://attacker.example' } })).code).toBe(
      'key_needed_for_headers',
    )
    expect((await change(id, { headers: { 'x-team': 'c' } })).code).toBe('key_needed_for_headers')
    expect((await change(id, { headers: { 'X-Team': 'a' } })).success).toBe(true)
    expect((await change(id, { key: 'sk-mine', proxy: 'http://p.example' })).success).toBe(true)
    expect((await change(id, { proxy: 'http://p.example:80/' })).success).toBe(true)
    expect((await change(id, { proxy: '' })).success).toBe(true)
    expect((await change(id, { proxy: 'http://q.example', headers: { 'x-z': '1' } }, root)).success).toBe(true)
    const append = { key_mode: 'multi', key: 'sk-mine', key_append: true, proxy: 'http://attacker.example' }
    expect((await change(id, append)).code).toBe('key_needed_for_proxy')
  })

  test('an admin cannot move secret headers or the login of a proxy to another host', async () => {
    const secret = { 'cf-access-client-secret': 'hidden-value-1' }
    const [id] = (await create({ headers: secret, proxy: 'http://p.example', proxy_login: 'u:hidden-login' })).data
    const mine = { key: 'sk-mine' }
    const kept = { headers: { 'cf-access-client-secret': '' } }
    expect((await change(id, { ...mine, base_url: 'https://attacker.example' })).code).toBe('headers_needed_to_move')
    expect((await change(id, { ...mine, ...kept, base_url: 'https://attacker.example' })).code).toBe(
      'headers_needed_to_move',
    )
    expect((await change(id, { ...mine, ...kept, proxy: 'http://attacker.example' })).code).toBe(
      'headers_needed_to_move',
    )
    expect((await change(id, { ...mine, headers: {}, proxy: 'http://attacker.example' })).code).toBe(
      'proxy_login_needed',
    )
    expect((await change(id, { ...kept, remark: 'x' })).success).toBe(true)
    const probe = { id, type: 1, key: 'sk-mine', base_url: 'https://attacker.example', models: 'm' }
    const tried = await set.api.call('POST', '/api/channel/probe', { as: admin.token, body: probe })
    expect(tried.json.code).toBe('headers_needed_to_move')
    const stored = JSON.stringify(await set.rows('channels'))
    const shown = JSON.stringify((await set.api.call('GET', `/api/channel/${id}`, { as: root.token })).json)
    const audit = JSON.stringify((await set.api.call('GET', '/api/audit/', { as: root.token })).json)
    for (const text of [stored, shown, audit]) expect(text).not.toContain('hidden-')
    expect((await change(id, { base_url: 'https://elsewhere.example' }, root)).success).toBe(true)
  })

  test('users cannot read a channel, so they see no headers, parameters, status map or proxy', async () => {
    const user = await set.person(1)
    const [id] = (await create({ remark: 'bought from Bob' })).data
    for (const path of ['/api/channel/', `/api/channel/${id}`, '/api/channel/?tag=x']) {
      const { json } = await set.api.call('GET', path, { as: user.token })
      expect(json.success).toBe(false)
    }
  })
})
