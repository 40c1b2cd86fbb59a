import { afterEach, beforeEach, expect, test } from 'bun:test'
import { logRow } from '../../../test/helpers/accounts.ts'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'

forEachDatabase((_, openFresh) => {
  let api: TestApi
  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    // A Tuesday, 22:13:20 UTC. In many time zones it is already Wednesday.
    api.time.ms = Date.UTC(2023, 10, 14, 22, 13, 20)
  })
  afterEach(() => api.store.close())

  const add = (userId: number, at: number, fields: object = {}) =>
    api.store.write((trx) =>
      trx
        .insertInto('logs')
        .values({
          ...logRow({ userId, tokenId: 1, channelId: 1 }),
          quota: 10,
          prompt_tokens: 3,
          completion_tokens: 4,
          created_at: at / 1000,
          ...fields,
        })
        .execute(),
    )
  const ask = async (token: string) => (await api.call('GET', '/api/user/dashboard', { as: token })).json

  test("sums the last seven days (UTC) by day and model, for the caller's own calls only", async () => {
    const me = await api.addPerson()
    const other = await api.addPerson()
    await add(me.id, Date.UTC(2023, 10, 14, 0, 0, 0))
    await add(me.id, Date.UTC(2023, 10, 14, 23, 59, 59))
    await add(me.id, Date.UTC(2023, 10, 14, 12), { model_name: 'b' })
    await add(me.id, Date.UTC(2023, 10, 13, 23, 59, 59), { quota: 2 ** 40 })
    await add(me.id, Date.UTC(2023, 10, 13, 1), { quota: 1 })
    await add(me.id, Date.UTC(2023, 10, 8, 0, 0, 0))
    await add(me.id, Date.UTC(2023, 10, 7, 23, 59, 59))
    await add(me.id, Date.UTC(2023, 10, 14, 1), { type: 1, quota: 5000 })
    await add(other.id, Date.UTC(2023, 10, 14, 1))
    const row = { ModelName: 'gpt-4o', RequestCount: 1, Quota: 10, PromptTokens: 3, CompletionTokens: 4 }
    expect(await ask(me.token)).toEqual({
      success: true,
      message: '',
      data: [
        { ...row, Day: '2023-11-08' },
        { ...row, Day: '2023-11-13', RequestCount: 2, Quota: 2 ** 40 + 1, PromptTokens: 6, CompletionTokens: 8 },
        { ...row, Day: '2023-11-14', ModelName: 'b' },
        { ...row, Day: '2023-11-14', RequestCount: 2, Quota: 20, PromptTokens: 6, CompletionTokens: 8 },
      ],
    })
    expect((await ask(other.token)).data).toEqual([{ ...row, Day: '2023-11-14' }])
    expect((await ask((await api.addPerson({ role: 100 })).token)).data).toEqual([])
  })

  test('visitors get 401', async () => {
    expect((await api.call('GET', '/api/user/dashboard')).status).toBe(401)
  })
})
