// The group of a token decides its channels and its price in place of the group of the token's owner. The limits are
// those of the owner's group.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { chat, expectError, type Rig, see, startRelayRig } from './setup.ts'

const plenty = { user: 1_000_000, token: 1_000_000 }
const path = '/v1/chat/completions'

forEachDatabaseUrl((name, freshUrl) => {
  let rig: Rig
  let fast: fake.FakeUpstream
  beforeAll(async () => {
    rig = await startRelayRig(name === 'postgres' ? { databaseUrl: await freshUrl() } : {})
    fast = await fake.startFakeUpstream()
    fast.always(fake.ok({ text: 'from the fast group' }))
  }, 120_000)
  afterAll(async () => {
    await rig[Symbol.asyncDispose]()
    await fast.close()
  })
  beforeEach(async () => {
    await rig.clear({
      UserUsableGroups: '{"fast":"Faster"}',
      GroupRatio: '{"default":1,"fast":3,"vip":1}',
      ModelRatio: '{"m":1,"only-fast":1}',
      GroupGroupRatio: '{}',
      GroupLimits: '{}',
    })
    await rig.channel()
    await rig.channel({ name: 'fast', group: 'fast', base_url: fast.url, models: 'm,only-fast' })
  })
  const set = async (options: Record<string, string>) => {
    for (const [key, value] of Object.entries(options)) await rig.gateway.setOption(key, value)
  }

  const call = (token: string, body: object = chat) => see(rig.gateway.post(path, body, token))
  const spentBy = async (userId: number) => {
    const row = await rig.gateway.context.api.store.read
      .selectFrom('users')
      .select(['used_quota'])
      .where('id', '=', userId)
      .executeTakeFirstOrThrow()
    return row.used_quota
  }

  test('the group of the token decides the channel and the ratio', async () => {
    const own = await rig.caller(plenty)
    const chosen = await rig.caller(plenty, { token: { group: 'fast' } })
    expect((await call(own.token)).text).not.toContain('from the fast group')
    expect((await call(chosen.token)).text).toContain('from the fast group')
    const again = await rig.caller(plenty, { token: { group: 'fast' } })
    await set({ GroupRatio: '{"default":1,"fast":1}' })
    await call(again.token)
    expect(await spentBy(chosen.userId)).toBe(3 * (await spentBy(again.userId)))
    expectError(await call(own.token, { ...chat, model: 'only-fast' }), 503, 'no_available_channel')
    expect((await call(again.token, { ...chat, model: 'only-fast' })).status).toBe(200)
  })

  test('a ratio for a user’s group and a token’s group replaces the ratio of the token’s group, but only for users of the first group', async () => {
    const plain = await rig.caller(plenty, { token: { group: 'fast' } })
    const vip = await rig.caller(plenty, { user: { group: 'vip' }, token: { group: 'fast' } })
    await set({ GroupRatio: '{"default":1,"fast":3,"vip":1}', GroupGroupRatio: '{"vip":{"fast":1}}' })
    await call(plain.token)
    await call(vip.token)
    expect(await spentBy(plain.userId)).toBe(3 * (await spentBy(vip.userId)))
  })

  test('limits stay those of the user’s own group', async () => {
    await set({
      GroupLimits: '{"default":{"rpm_limit":1},"fast":{"rpm_limit":1000}}',
    })
    const caller = await rig.caller(plenty, { token: { group: 'fast' } })
    expect((await call(caller.token)).status).toBe(200)
    expectError(await call(caller.token), 429, 'rate_limit_exceeded')
  })

  test('a token whose owner may no longer use its group is refused, and nothing is sent or charged', async () => {
    const caller = await rig.caller(plenty, { token: { group: 'fast' } })
    expect((await call(caller.token)).status).toBe(200)
    const spent = await spentBy(caller.userId)
    await set({ UserUsableGroups: '{}' })
    const sent = fast.requests.length
    const refused = await call(caller.token)
    expectError(refused, 403, 'group_not_allowed')
    expect(refused.error?.message).toContain('group fast')
    expect(fast.requests.length).toBe(sent)
    expect(await spentBy(caller.userId)).toBe(spent)
    // Users of the group itself need no permission.
    const member = await rig.caller(plenty, { user: { group: 'fast' }, token: { group: 'fast' } })
    expect((await call(member.token)).status).toBe(200)
  })

  test('the list of models is that of the token’s group', async () => {
    const list = async (token: string) => {
      const response = await fetch(`${rig.gateway.url}/v1/models`, { headers: { authorization: `Bearer ${token}` } })
      const { data } = (await response.json()) as { data: { id: string }[] }
      return data.map(({ id }) => id)
    }
    const own = await rig.caller(plenty)
    const chosen = await rig.caller(plenty, { token: { group: 'fast' } })
    expect(await list(own.token)).not.toContain('only-fast')
    expect((await list(chosen.token)).sort()).toEqual(['m', 'only-fast'])
  })
})
