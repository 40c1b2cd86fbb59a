import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { startService } from '../../../test/helpers/outside-services.ts'

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let root: { token: string }

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    root = await api.addPerson({ username: 'root', role: 100 })
  })
  afterEach(() => api.store.close())

  const call = async (method: string, path: string, body?: unknown) =>
    (await api.call(method, path, { as: root.token, ...(body !== undefined && { body: body as object }) })).json
  const put = (key: string, value: string) => call('PUT', '/api/option/', { key, value })

  test('the latest release is read from the configured feed, and only if one is configured', async () => {
    expect((await call('GET', '/api/option/latest_release')).message).toContain('UpdateFeedURL')
    await using feed = await startService((request, response) =>
      response.end(request.url === '/latest' ? '{"tag_name":"v9.1","body":"# New"}' : '{"message":"Not Found"}'),
    )
    await put('UpdateFeedURL', `${feed.url}/latest`)
    expect((await call('GET', '/api/option/latest_release')).data).toEqual({
      version: '0.0.0-test',
      tag_name: 'v9.1',
      body: '# New',
    })
    await put('UpdateFeedURL', `${feed.url}/other`)
    expect((await call('GET', '/api/option/latest_release')).message).toContain('no record of a release')
    expect((await put('UpdateFeedURL', 'http://169.254.169.254/latest')).success).toBe(false)
    expect((await put('UpdateFeedURL', 'file:///etc/passwd')).success).toBe(false)
  })

  test('prices are listed by the model name that is sent upstream, not by the name that callers send, with the source of each price', async () => {
    const add = (models: string, fields: object = {}) =>
      call('POST', '/api/channel/', { name: 'c', type: 1, key: 'sk-1', models, group: 'default', ...fields })
    await add('gpt-4o,my-model')
    await add('mine', { model_mapping: '{"mine":"gpt-4o"}' })
    await put('ModelRatio', '{"my-model":3,"elsewhere":1.5,"gpt-4":20}')
    await put('CompletionRatio', '{"my-model":2}')
    await put('ModelPrice', '{"painted":0.02}')
    await add('painted,nobody-knows-this')
    const { data } = await call('GET', '/api/option/prices')
    const byName = Object.fromEntries(data.map((row: { model: string }) => [row.model, row]))
    expect(byName['gpt-4o']).toEqual({
      model: 'gpt-4o',
      channels: 2,
      ratio: 1.25,
      completion_ratio: 4,
      default_ratio: 1.25,
      default_completion_ratio: 4,
      source: 'default',
    })
    expect(byName['my-model']).toMatchObject({ channels: 1, ratio: 3, completion_ratio: 2, source: 'option' })
    expect(byName['gpt-4']).toMatchObject({ ratio: 20, completion_ratio: 2, default_ratio: 15 })
    expect(byName.elsewhere).toMatchObject({ channels: 0, ratio: 1.5, source: 'option' })
    expect(byName.painted).toMatchObject({ source: 'call' })
    expect(byName['nobody-knows-this']).toMatchObject({ ratio: 0, source: 'none' })
    expect(byName.mine).toBeUndefined()
  })
})
