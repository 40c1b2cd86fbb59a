import { afterEach, beforeEach, expect, test } from 'bun:test'
import { forEachDatabase } from '../helpers/databases.ts'
import { type Scene, scene } from './setup.ts'

const yaml = { 'content-type': 'application/yaml' }
const body = 'version: 1\noptions: { SystemName: Taken over }\n'

forEachDatabase((_, openFresh) => {
  let at: Scene

  beforeEach(async () => {
    at = await scene(await openFresh())
  })
  afterEach(() => at.api.store.close())

  const names = async () => (await at.rows('options')).map(({ key }) => key)

  test('a page of another site cannot apply a configuration with the cookie of root', async () => {
    const root = await at.person(100)
    const cookie = await at.session(root)
    for (const origin of ['https://evil.example', 'null']) {
      const headers = { ...yaml, origin, 'sec-fetch-site': 'cross-site' }
      const { status } = await at.api.call('PUT', '/api/config', { cookie, body, headers })
      expect([origin, status]).toEqual([origin, 403])
    }
    // These are the content types that a page of another site can send. The call does not accept them.
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const { json } = await at.api.call('PUT', '/api/config', { cookie, body, headers: { 'content-type': type } })
      expect([type, json.success]).toEqual([type, false])
    }
    expect(await names()).toEqual([])
  })

  test('neither an admin nor a root who has been demoted to admin can read or apply a configuration', async () => {
    const former = await at.person(100)
    for (const person of [await at.person(10), await at.person(1), former]) {
      if (person === former)
        await at.api.store.write((trx) =>
          trx.updateTable('users').set({ role: 10 }).where('id', '=', former.id).execute(),
        )
      for (const query of ['', '?dry_run=true', '?prune=true']) {
        const answer = await at.api.call('PUT', `/api/config${query}`, { as: person.token, body, headers: yaml })
        expect(answer.json.message).toContain('permission')
      }
      expect((await at.api.call('GET', '/api/config', { as: person.token })).json.message).toContain('permission')
    }
    expect(await names()).toEqual([])
  })

  test('a configuration cannot reach metadata services, set headers of the gateway or raise limits of responses', async () => {
    const root = await at.person(100)
    const channel = (fields: string) =>
      `version: 1\nchannels: [{ name: c, type: openai, key: sk-x, models: [m], ${fields} }]\n`
    for (const fields of [
      'base_url: http://169.254.169.254/latest',
      'base_url: file:///etc/passwd',
      'base_url: https://user:password@up.example',
      'proxy: socks5://proxy.example',
      'proxy: http://metadata.google.internal',
      'headers: { authorization: mine }',
      'headers: { x-a: "b\\r\\nx-c: d" }',
      'parameters: [{ op: set, path: max_tokens, value: 9 }]',
      'status_map: { "500": 200 }',
      'config: { ak: x }',
      'id: 1',
      'used_quota: 0',
      'draining: yes please',
    ]) {
      const { json } = await at.api.call('PUT', '/api/config', { as: root.token, body: channel(fields), headers: yaml })
      expect([fields, json.success, json.code]).toEqual([fields, false, 'configuration_invalid'])
    }
    expect(await at.rows('channels')).toEqual([])
  })

  test('the stream for the `doctor` command needs a secret, which works only once and is invalid after three attempts with a wrong secret', async () => {
    const { store, secrets } = at.api
    const ask = async (secret: string) => {
      const response = await at.api.app.request('/api/doctor', { headers: { 'x-tollgate-doctor': secret } })
      const type = response.headers.get('content-type') ?? ''
      await response.body?.cancel()
      return type.startsWith('text/event-stream')
    }
    const save = (subject: string) =>
      store.write((trx) =>
        trx
          .insertInto('one_time_codes')
          .values({
            ...{ purpose: 'doctor', subject, code_hash: secrets.fingerprint('right', 'doctor'), attempts: 0 },
            ...{ created_time: 0, expires_time: 4_000_000_000 },
          })
          .execute(),
      )
    await save('one')
    expect([await ask('one.wrong'), await ask('one.right'), await ask('one.right')]).toEqual([false, true, false])
    await save('two')
    for (let guess = 0; guess < 3; guess++) expect(await ask(`two.${guess}`)).toBe(false)
    expect(await ask('two.right')).toBe(false)
  })
})
