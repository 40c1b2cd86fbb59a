// If several concurrent calls use the same name, only one of them succeeds. An edit writes only the columns that it
// changes. Numbers in titles, such as 8.6-1, are items of table.md.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { balanceFaults } from '../../server/store/ledger/balance-check.ts'
import { forEachDatabase } from '../helpers/databases.ts'
import { type Attacker, belongings, password, type Scene, scene } from './setup.ts'

setDefaultTimeout(120_000)

const rounds = 20

forEachDatabase((_, openFresh) => {
  let set: Scene
  let user: Attacker
  let admin: Attacker
  let root: Attacker
  let owned: Awaited<ReturnType<typeof belongings>>

  beforeEach(async () => {
    set = await scene(await openFresh())
    user = await set.person()
    admin = await set.person(10)
    root = await set.person(100)
    owned = await belongings(set, user, admin)
  })
  afterEach(() => set.api.store.close())

  const send = (method: string, path: string, as: Attacker, body?: unknown) =>
    set.api.call(method, path, { as: as.token, ...(body !== undefined && { body }) })

  test('duplicate names: when many concurrent registrations, creations and renames use the same name, only one succeeds', async () => {
    const other = await set.person()
    const made = { username: 'wanted', password: 'long enough' }
    const answers = await Promise.all([
      ...Array.from({ length: 3 }, () =>
        set.api.call('POST', '/api/user/register', { body: { ...made, username: 'Wanted' } }),
      ),
      ...Array.from({ length: 2 }, () => send('POST', '/api/user/', admin, made)),
      send('PUT', '/api/user/self', other, { username: 'WANTED' }),
      send('PUT', '/api/user/', admin, { id: user.id, username: 'wanted' }),
    ])
    expect([answers.map(({ status }) => status).filter((status) => status !== 200), set.api.warnings]).toEqual([[], []])
    expect(answers.filter(({ json }) => json.success)).toHaveLength(1)
    const named = (await set.rows('users')).filter((row) => String(row['username']).toLowerCase() === 'wanted')
    expect(named).toHaveLength(1)
  })

  test('duplicate names: when many spellings of one name are submitted concurrently, only one is accepted', async () => {
    const people = await Promise.all(Array.from({ length: 8 }, () => set.person()))
    for (let round = 0; round < 5; round++) {
      const name = `name${round}`
      const spellings = people.map((_unused, at) =>
        [...name].map((letter, place) => ((at >> place) & 1 ? letter.toUpperCase() : letter)).join(''),
      )
      const answers = await Promise.all(
        people.map((each, at) => send('PUT', '/api/user/self', each, { username: spellings[at] })),
      )
      expect([round, answers.filter(({ json }) => json.success).length]).toEqual([round, 1])
      const named = (await set.rows('users')).filter((row) => String(row['username']).toLowerCase() === name)
      expect(named).toHaveLength(1)
    }
  })

  test('duplicate names: names that differ only in case or surrounding whitespace count as the same, and a deleted user’s name can be used again', async () => {
    const make = async (username: string) =>
      (await send('POST', '/api/user/', admin, { username, password: 'long enough' })).json.success
    expect(await make('alice')).toBe(true)
    for (const username of ['alice', 'Alice', 'ALICE', ' alice ', 'alice\t'])
      expect([username, await make(username)]).toEqual([username, false])
    for (const username of ['', ' ', 'a b', 'a\u200bb', 'al\u0000ice', 'a\u202eb', '<b>', 'a/b']) {
      expect([username, await make(username)]).toEqual([username, false])
    }
    await send('POST', '/api/user/manage', admin, { username: 'alice', action: 'delete' })
    expect(await make('alice')).toBe(true)
  })

  test('duplicate names: case and Unicode normalisation form do not matter in any script, including at login', async () => {
    const make = async (username: string) =>
      (await send('POST', '/api/user/', admin, { username, password: 'long enough' })).json.success
    for (const [first, ...alike] of [
      ['Élodie', 'élodie', 'ÉLODIE', 'E\u0301lodie'],
      ['борис', 'Борис', 'БОРИС'],
      ['alice', '\uff41lice', '\uff21LICE'],
      ['王小明'],
    ] as const) {
      expect([first, await make(first)]).toEqual([first, true])
      for (const name of alike) expect([name, await make(name)]).toEqual([name, false])
    }
    const other = await send('PUT', '/api/user/self', user, { username: 'éLODIE' })
    expect(other.json.success).toBe(false)
    const own = await set.api.call('POST', '/api/user/login', {
      body: { username: 'E\u0301lodie', password: 'long enough' },
    })
    expect(own.json.data).toMatchObject({ username: 'Élodie' })
  })

  test('when several people edit one user concurrently, no change is lost', async () => {
    for (let round = 1; round <= rounds; round++) {
      await Promise.all([
        send('PUT', '/api/user/', root, { id: user.id, group: round % 2 ? 'vip' : 'svip' }),
        send('PUT', '/api/user/', root, { id: user.id, quota_delta: 7 }),
        send('PUT', '/api/user/self', user, { display_name: `name ${round}` }),
        send('GET', '/api/user/aff', user),
        send('POST', '/api/topup', admin, { user_id: user.id, quota: 3 }),
        send('POST', '/api/user/manage', root, { username: user.username, action: round % 2 ? 'promote' : 'demote' }),
      ])
      const row = (await set.rows('users')).find(({ id }) => id === user.id)
      expect(row).toMatchObject({
        group: round % 2 ? 'vip' : 'svip',
        quota: 1000 + round * 10,
        display_name: `name ${round}`,
        role: round % 2 ? 10 : 1,
      })
    }
    expect((await balanceFaults(set.api.store)).faults).toEqual([])
  })

  test('when several people edit one token, channel or code concurrently, no change is lost', async () => {
    const { token, channelId, redemptionId } = owned
    for (let round = 1; round <= rounds; round++) {
      const status = (round % 2) + 1
      await Promise.all([
        send('PUT', '/api/token/', user, { id: token.id, name: `token ${round}` }),
        send('PUT', '/api/token/', user, { id: token.id, remain_quota_delta: 5 }),
        send('PUT', '/api/token/', user, { id: token.id, models: `m${round}` }),
        send('PUT', '/api/token/?status_only=true', user, { id: token.id, status }),
        send('PUT', '/api/channel/', admin, { id: channelId, name: `channel ${round}` }),
        send('PUT', '/api/channel/', root, { id: channelId, status }),
        send('PUT', '/api/channel/', admin, { id: channelId, models: `m${round},n` }),
        send('PUT', '/api/channel/', root, { id: channelId, priority: round }),
        send('PUT', '/api/redemption/', admin, { id: redemptionId, name: `code ${round}` }),
        send('PUT', '/api/redemption/', root, { id: redemptionId, quota: 100 + round }),
        send('PUT', '/api/redemption/?status_only=true', admin, { id: redemptionId, status }),
      ])
      const tokens = await set.rows('tokens')
      expect(tokens.find(({ id }) => id === token.id)).toMatchObject({
        name: `token ${round}`,
        remain_quota: 50 + 5 * round,
        models: `m${round}`,
        status,
      })
      expect((await set.rows('channels'))[0]).toMatchObject({
        name: `channel ${round}`,
        status,
        models: `m${round},n`,
        priority: round,
      })
      expect((await set.rows('redemptions'))[0]).toMatchObject({ name: `code ${round}`, quota: 100 + round, status })
    }
    // The rows from which routing chooses agree with the channel's last state.
    const abilities = await set.api.store.read
      .selectFrom('abilities')
      .selectAll()
      .where('channel_id', '=', channelId)
      .execute()
    expect(abilities.map(({ model, enabled, priority }) => [model, Boolean(enabled), priority]).sort()).toEqual([
      [`m${rounds}`, true, rounds],
      ['n', true, rounds],
    ])
    expect((await balanceFaults(set.api.store)).faults).toEqual([])
  })

  /**
   * Checks that nobody gets a database error because of another user's calls, and that no response is a server error.
   */
  const undisturbed = (answers: readonly { status: number; json: unknown }[]) => {
    expect(answers.filter(({ status }) => status >= 500).map(({ json }) => json)).toEqual([])
    expect(set.api.warnings).toEqual([])
  }

  test('concurrent logins, a password change, bans, a role change and the deletion of one account cause no errors for anybody', async () => {
    for (let round = 0; round < 5; round++) {
      const person = await set.person()
      const cookies = await Promise.all([set.session(person), set.session(person)])
      const manage = (action: string) => send('POST', '/api/user/manage', root, { username: person.username, action })
      const body = { username: person.username, password }
      undisturbed(
        await Promise.all([
          ...cookies.map((cookie) => set.api.call('POST', '/api/user/login', { cookie, body })),
          ...cookies.map((cookie) => set.api.call('GET', '/api/user/logout', { cookie })),
          send('PUT', '/api/user/self', person, { password }),
          ...['promote', 'disable', 'demote', 'enable'].map(manage),
          send('PUT', '/api/user/', root, { id: person.id, password }),
        ]),
      )
      await manage('enable')
      const more = await Promise.all([set.session(person), set.session(person)])
      undisturbed(
        await Promise.all([
          ...more.map((cookie) => set.api.call('DELETE', '/api/user/self', { cookie })),
          ...['disable', 'enable', 'delete'].map(manage),
          send('DELETE', `/api/user/${person.id}`, root),
        ]),
      )
    }
  })

  test('concurrent batches, copies and deletions of the same channels cause no errors for anybody', async () => {
    const channel = { type: 1, name: 'many', key: 'k\nl\nm\nn\no\np', models: 'm,n', status: 2 }
    for (let round = 0; round < 5; round++) {
      const ids: number[] = (await send('POST', '/api/channel/', admin, channel)).json.data
      // PostgreSQL stores the new version of an updated row after the other rows, so a table scan then reads this row
      // last.
      await send('PUT', '/api/channel/', admin, { id: ids[0], priority: 4 })
      undisturbed(
        await Promise.all([
          send('POST', '/api/channel/batch', admin, { ids, action: 'edit', priority: 5 }),
          send('DELETE', '/api/channel/disabled', root),
          send('POST', '/api/channel/batch', root, { ids: [...ids].reverse(), action: 'edit', models: 'q,r' }),
          send('DELETE', '/api/channel/disabled', admin),
          send('POST', `/api/channel/${ids[1]}/copy`, root, {}),
          send('DELETE', `/api/channel/${ids[4]}`, admin),
        ]),
      )
    }
  })

  test('8.6-1 creating a new access token in a loop does not restore quota that concurrent calls spend', async () => {
    const spend = () =>
      set.api.store.write((trx) =>
        trx
          .updateTable('users')
          .set((eb) => ({
            quota: eb('quota', '-', 10),
            used_quota: eb('used_quota', '+', 10),
            unlogged_quota: eb('unlogged_quota', '+', 10),
          }))
          .where('id', '=', user.id)
          .execute(),
      )
    const cookie = await set.session(user)
    for (let round = 0; round < rounds; round++) {
      await Promise.all([
        spend(),
        set.api.call('GET', '/api/user/token', { cookie }),
        set.api.call('GET', '/api/user/aff', { cookie }),
        set.api.call('PUT', '/api/user/self', { cookie, body: { display_name: `n${round}` } }),
      ])
    }
    const row = (await set.rows('users')).find(({ id }) => id === user.id)
    expect(row).toMatchObject({ quota: 1000 - 10 * rounds, used_quota: 10 * rounds })
    expect((await balanceFaults(set.api.store)).faults).toEqual([])
  })
})
