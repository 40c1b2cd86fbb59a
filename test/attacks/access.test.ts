// Knowing the id of another user's object gives no access to it, and an API call writes only the fields that it is
// meant to write. Numbers in titles, such as 8.5-10, are items of table.md.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { forEachDatabase } from '../helpers/databases.ts'
import { type Attacker, belongings, type Scene, scene } from './setup.ts'

setDefaultTimeout(120_000)

forEachDatabase((_, openFresh) => {
  let set: Scene
  let victim: Attacker
  let user: Attacker
  let admin: Attacker
  let otherAdmin: Attacker
  let root: Attacker
  let owned: Awaited<ReturnType<typeof belongings>>

  beforeEach(async () => {
    set = await scene(await openFresh())
    victim = await set.person()
    user = await set.person()
    admin = await set.person(10)
    otherAdmin = await set.person(10)
    root = await set.person(100)
    owned = await belongings(set, victim, admin)
  })
  afterEach(() => set.api.store.close())

  const call = (method: string, path: string, as: Attacker, body?: unknown) =>
    set.api.call(method, path, { as: as.token, ...(body !== undefined && { body }) })
  const everything = async () => ({
    users: await set.rows('users'),
    tokens: await set.rows('tokens'),
    channels: await set.rows('channels'),
    redemptions: await set.rows('redemptions'),
    options: await set.rows('options'),
  })

  test('ids of other users: the endpoints for one’s own tokens never find another user’s token, not even for root', async () => {
    const { id } = owned.token
    const before = await everything()
    for (const who of [user, admin, root]) {
      for (const [method, path, body] of [
        ['GET', `/api/token/${id}`, undefined],
        ['PUT', '/api/token/', { id, name: 'stolen', remain_quota: 1e6, unlimited_quota: true }],
        ['PUT', '/api/token/?status_only=true', { id, status: 2 }],
        ['POST', `/api/token/${id}/rotate`, {}],
        ['POST', `/api/token/${id}/rotate`, { keep_seconds: 0 }],
        ['DELETE', `/api/token/${id}/old-key`, undefined],
        ['DELETE', `/api/token/${id}`, undefined],
      ] as const) {
        const { json } = await call(method, path, who, body)
        expect([path, json]).toEqual([path, { success: false, message: 'Token not found.', code: 'token_not_found' }])
      }
      for (const path of ['/api/token/?p=0&size=100', '/api/token/search?keyword=mine']) {
        expect((await call('GET', path, who)).json.data).toEqual([])
      }
    }
    expect(await everything()).toEqual(before)
  })

  test('8.5-10 ids of other users: no endpoint returns the key of another user’s token', async () => {
    for (const who of [user, admin, root]) {
      for (const [method, path, body] of [
        ['POST', `/api/token/${owned.token.id}/key`],
        ['GET', `/api/token/${owned.token.id}/key`],
        ['GET', `/api/token/${owned.token.id}`],
        ['GET', '/api/token/?p=0&size=100'],
        ['GET', '/api/token/search?keyword='],
        ['GET', '/api/log/?p=0&size=100'],
        ['GET', '/api/audit/?size=100'],
        ['GET', `/api/user/${victim.id}`],
        ['GET', `/api/user/${victim.id}/tokens?size=100`],
        ['PUT', `/api/user/${victim.id}/tokens/${owned.token.id}`, { status: 1 }],
        ['GET', `/api/user/${victim.id}/sessions`],
      ] as const) {
        expect([path, JSON.stringify(await call(method, path, who, body))]).not.toEqual([
          path,
          expect.stringContaining(owned.token.key),
        ])
      }
    }
  })

  test('ids of other users: an ordinary user cannot reach another user’s account or logs, nor any channel, code or option', async () => {
    const before = await everything()
    for (const [method, path, body] of [
      ['GET', `/api/user/${victim.id}`, undefined],
      ['GET', '/api/user/?p=0', undefined],
      ['GET', '/api/user/search?keyword=u', undefined],
      ['PUT', '/api/user/', { id: victim.id, password: 'taken over', quota: 0 }],
      ['PUT', '/api/user/', { id: user.id, quota: 1e9, role: 100, group: 'svip' }],
      ['POST', '/api/user/', { username: 'newroot', password: 'long enough', role: 100 }],
      ['POST', '/api/user/manage', { username: user.username, action: 'promote' }],
      ['DELETE', `/api/user/${victim.id}`, undefined],
      ['GET', `/api/user/${victim.id}/tokens`, undefined],
      ['PUT', `/api/user/${victim.id}/tokens/${owned.token.id}`, { status: 2 }],
      ['GET', `/api/user/${victim.id}/sessions`, undefined],
      ['DELETE', `/api/user/${victim.id}/sessions`, undefined],
      ['DELETE', `/api/user/${victim.id}/sessions/0123456789abcdef`, undefined],
      ['GET', `/api/user/${user.id}/tokens`, undefined],
      ['POST', '/api/topup', { user_id: user.id, quota: 1e9 }],
      ['GET', `/api/channel/${owned.channelId}`, undefined],
      ['PUT', '/api/channel/', { id: owned.channelId, base_url: 'http://127.0.0.1:9' }],
      ['DELETE', `/api/channel/${owned.channelId}`, undefined],
      ['GET', `/api/redemption/${owned.redemptionId}`, undefined],
      ['PUT', '/api/redemption/', { id: owned.redemptionId, quota: 1e9 }],
      ['DELETE', `/api/redemption/${owned.redemptionId}`, undefined],
      ['GET', '/api/option/', undefined],
      ['PUT', '/api/option/', { key: 'QuotaForNewUser', value: '1000000' }],
      ['GET', '/api/log/?p=0', undefined],
      ['GET', `/api/log/stat?username=${victim.username}`, undefined],
      ['DELETE', '/api/log/?target_timestamp=4000000000', undefined],
      ['GET', '/api/audit/', undefined],
    ] as const) {
      const { status, json } = await call(method, path, user, body)
      expect([method, path, status, json]).toEqual([
        method,
        path,
        200,
        { success: false, message: 'You do not have permission to do this.', code: 'no_permission' },
      ])
    }
    expect(await everything()).toEqual(before)
  })

  test('ids of other users: an admin can change neither other admins nor root, nor the options that only root may change', async () => {
    const before = await everything()
    for (const target of [otherAdmin, root]) {
      for (const [method, path, body] of [
        ['GET', `/api/user/${target.id}`, undefined],
        ['PUT', '/api/user/', { id: target.id, password: 'taken over' }],
        ['PUT', '/api/user/', { id: target.id, role: 1 }],
        ['DELETE', `/api/user/${target.id}`, undefined],
        ['POST', '/api/user/manage', { username: target.username, action: 'disable' }],
        ['POST', '/api/user/manage', { username: target.username, action: 'delete' }],
        ['POST', '/api/user/manage', { username: target.username, action: 'demote' }],
      ] as const) {
        expect([path, (await call(method, path, admin, body)).json.success]).toEqual([path, false])
      }
    }
    for (const body of [
      { id: victim.id, role: 10 },
      { id: victim.id, role: 100 },
      { id: admin.id, role: 100 },
    ]) {
      expect((await call('PUT', '/api/user/', admin, body)).json.success).toBe(false)
    }
    expect((await call('PUT', '/api/option/', admin, { key: 'RegisterEnabled', value: 'false' })).json.success).toBe(
      false,
    )
    expect(
      (await call('POST', '/api/user/', admin, { username: 'equal', password: 'long enough', role: 10 })).json.success,
    ).toBe(false)
    expect(await everything()).toEqual(before)
  })

  test('ids of other users: an admin can neither see nor change the tokens and sessions of other admins and root', async () => {
    for (const target of [otherAdmin, root]) {
      const cookie = await set.session(target)
      const { id } = (await call('POST', '/api/token/', target, { name: 'theirs', unlimited_quota: true })).json.data
      const [{ id: session }] = (await call('GET', `/api/user/${target.id}/sessions`, root)).json.data
      const before = [await everything(), await set.rows('sessions')]
      for (const [method, path, body] of [
        ['GET', `/api/user/${target.id}/tokens`, undefined],
        ['PUT', `/api/user/${target.id}/tokens/${id}`, { status: 2 }],
        ['GET', `/api/user/${target.id}/sessions`, undefined],
        ['DELETE', `/api/user/${target.id}/sessions/${session}`, undefined],
        ['DELETE', `/api/user/${target.id}/sessions`, undefined],
      ] as const) {
        const { json } = await call(method, path, admin, body)
        expect([path, json.code, json.data]).toEqual([path, 'role_too_high_manage', undefined])
      }
      // The token and the session are not found under the path of a user whom the admin may manage, either.
      expect((await call('PUT', `/api/user/${victim.id}/tokens/${id}`, admin, { status: 2 })).json.message).toBe(
        'Token not found.',
      )
      expect((await call('DELETE', `/api/user/${victim.id}/sessions/${session}`, admin)).json.message).toBe(
        'Session not found.',
      )
      expect([await everything(), await set.rows('sessions')]).toEqual(before)
      expect((await set.api.call('GET', '/api/user/self', { cookie })).status).toBe(200)
    }
  })

  test('ids of other users: the session details that an admin sees cannot be used to log in', async () => {
    const cookie = await set.session(victim)
    const [row] = await set.rows('sessions')
    const [seen] = (await call('GET', `/api/user/${victim.id}/sessions`, admin)).json.data
    for (const tried of [seen.id, row?.['id_hash']]) {
      expect((await set.api.call('GET', '/api/user/self', { cookie: `session=${tried}` })).status).toBe(401)
    }
    expect(JSON.stringify(seen)).not.toContain(String(row?.['id_hash']))
    expect((await set.api.call('GET', '/api/user/self', { cookie })).status).toBe(200)
  })

  test('ids of other users: logs and totals cover only the user’s own calls, whatever the query asks for', async () => {
    const { store } = set.api
    const row = {
      created_at: 1_700_000_000,
      type: 2,
      token_name: 't',
      model_name: 'm',
      quota: 9,
      prompt_tokens: 1,
      completion_tokens: 1,
      content: 'secret words',
    }
    const { logRow } = await import('../helpers/accounts.ts')
    await store.write((trx) =>
      trx
        .insertInto('logs')
        .values({
          ...logRow({ userId: victim.id, tokenId: owned.token.id, channelId: owned.channelId }),
          ...row,
          username: victim.username,
        })
        .execute(),
    )
    const tricks = `username=${victim.username}&user_id=${victim.id}&userId=${victim.id}&channel=${owned.channelId}&id=${victim.id}`
    for (const path of ['/api/log/self', '/api/log/self/search']) {
      expect((await call('GET', `${path}?${tricks}`, user)).json.data).toEqual([])
    }
    expect((await call('GET', `/api/log/self/stat?${tricks}`, user)).json.data).toEqual({
      quota: 0,
      token: 0,
      calls: 0,
      failed: 0,
    })
    expect((await call('GET', `/api/user/dashboard?${tricks}`, user)).json.data).toEqual([])
    expect((await call('GET', '/api/log/self', victim)).json.data).toHaveLength(1)
  })

  test('mass assignment: registration and the profile accept only the name, display name and password', async () => {
    const extra = {
      id: root.id,
      role: 100,
      status: 1,
      quota: 1e9,
      used_quota: -5,
      request_count: 7,
      group: 'svip',
      email: 'me@example.com',
      github_id: 'octocat',
      wechat_id: 'wx',
      access_token: 'f'.repeat(32),
      aff_code: 'mine',
      inviter_id: 1,
      created_time: 1,
    }
    // Columns that never appear in a response are rejected in a request body, and the error names them.
    const hidden = {
      quota_delta: 1e9,
      granted_quota: 1e9,
      github_account_id: '1@github.com',
      access_token_hash: 'f'.repeat(64),
      unlogged_quota: 5,
      quota_armed: true,
    }
    const [before] = (await set.rows('users')).filter((row) => row['id'] === user.id)
    for (const [name, value] of Object.entries(hidden)) {
      const refused = await call('PUT', '/api/user/self', user, { [name]: value, display_name: 'you' })
      expect(refused.json.message).toBe(`The input has unknown fields: ${name}.`)
    }
    const changed = await call('PUT', '/api/user/self', user, { ...extra, display_name: 'me' })
    expect(changed.json.success).toBe(true)
    const [after] = (await set.rows('users')).filter((row) => row['id'] === user.id)
    expect(after).toEqual({ ...before, display_name: 'me' })

    const registered = await set.api.call('POST', '/api/user/register', {
      body: { ...extra, username: 'fresh', password: 'long enough' },
    })
    expect(registered.json.success).toBe(true)
    const [fresh] = (await set.rows('users')).filter((row) => row['username'] === 'fresh')
    expect(fresh).toMatchObject({
      role: 1,
      status: 1,
      quota: 0,
      used_quota: 0,
      granted_quota: 0,
      group: 'default',
      email: '',
      github_id: '',
      wechat_id: '',
      inviter_id: 0,
      access_token_hash: null,
    })
  })

  test('mass assignment: an admin’s calls for users, channels and codes write only the fields that they accept', async () => {
    const [before] = (await set.rows('users')).filter((row) => row['id'] === victim.id)
    await call('PUT', '/api/user/', admin, {
      id: victim.id,
      display_name: 'edited',
      used_quota: 5,
      request_count: 5,
      email: 'x@example.com',
      github_id: 'x',
      wechat_id: 'x',
      access_token: 'x'.repeat(32),
      aff_code: 'x',
      inviter_id: 5,
      created_time: 5,
    })
    const [after] = (await set.rows('users')).filter((row) => row['id'] === victim.id)
    expect(after).toEqual({ ...before, display_name: 'edited' })

    const [channel] = await set.rows('channels')
    await call('PUT', '/api/channel/', admin, {
      id: owned.channelId,
      name: 'edited',
      used_quota: 5,
      balance: 5,
      response_time: 5,
      created_time: 5,
      key_count: 9,
      test_time: 5,
    })
    expect(await set.rows('channels')).toEqual([{ ...channel, name: 'edited' }])

    const [code] = await set.rows('redemptions')
    await call('PUT', '/api/redemption/', admin, {
      id: owned.redemptionId,
      name: 'edited',
      key: 'f'.repeat(32),
      user_id: 1,
      status: 3,
      redeemed_time: 5,
      redeemed_user_id: 5,
      created_time: 5,
    })
    expect(await set.rows('redemptions')).toEqual([{ ...code, name: 'edited' }])
  })

  test('mass assignment: a call cannot set a token’s owner, key, status or ledger amounts', async () => {
    const extra = {
      user_id: root.id,
      key: 'k'.repeat(48),
      status: 4,
      used_quota: -100,
      created_time: 5,
      accessed_time: 5,
    }
    const [before] = (await set.rows('tokens')).filter((row) => row['id'] === owned.token.id)
    await call('PUT', '/api/token/', victim, { id: owned.token.id, name: 'edited', ...extra })
    const [after] = (await set.rows('tokens')).filter((row) => row['id'] === owned.token.id)
    expect(after).toEqual({ ...before, name: 'edited' })
    const { data } = (await call('POST', '/api/token/', user, { name: 'new', ...extra })).json
    expect(data).toMatchObject({ user_id: user.id, status: 1, used_quota: 0 })
    expect(data.key).not.toBe('k'.repeat(48))
  })

  test('mass assignment: a body with property names from JavaScript’s object prototype is refused and has no effect', async () => {
    const { display_name: before } = (await call('GET', '/api/user/self', user)).json.data
    for (const body of [
      '{"__proto__":{"role":100,"quota":1000000},"display_name":"a"}',
      '{"constructor":{"prototype":{"role":100}},"display_name":"b"}',
    ]) {
      const { json } = await set.api.call('PUT', '/api/user/self', { as: user.token, body })
      expect(json.message).toMatch(/^The input has unknown fields: (?:__proto__|constructor)\.$/)
    }
    expect(({} as Record<string, unknown>)['role']).toBeUndefined()
    expect((await call('GET', '/api/user/self', user)).json.data).toMatchObject({
      role: 1,
      quota: 1000,
      display_name: before,
    })
    expect((await call('GET', '/api/user/', user)).json.success).toBe(false)
  })
})
