// The extra settings of a channel: headers, parameters, statuses, a proxy and a model for tests.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { okChat } from '../helpers/fake-upstream.ts'
import { startProxy } from '../helpers/proxy-server.ts'
import { json, startChannelRig } from './setup.ts'

setDefaultTimeout(120_000)

const question = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] }

forEachDatabaseUrl((_, freshUrl) => {
  const rigOf = async () => startChannelRig(await freshUrl())

  test('a channel’s headers are added or replace those of the gateway, and organization and project have settings of their own', async () => {
    await using rig = await rigOf()
    rig.upstream.always(okChat({ text: 'Hello' }))
    await rig.channel({
      headers: { 'X-Title': 'Team', Accept: 'application/json; v=2' },
      organization: 'org-1',
      project: 'proj-1',
    })
    expect(await rig.chat()).toBe(200)
    expect(Object.fromEntries(rig.upstream.requests[0]?.headers ?? [])).toMatchObject({
      'x-title': 'Team',
      accept: 'application/json; v=2',
      'openai-organization': 'org-1',
      'openai-project': 'proj-1',
      authorization: 'Bearer upstream-key',
    })
  })

  test('in every dialect, the parameters of a request can be set, given a default, limited or dropped before it is sent', async () => {
    await using rig = await rigOf()
    rig.upstream.always(okChat({ text: 'Hello' }))
    await rig.channel({
      parameters: [
        { op: 'set', path: 'provider.order', value: ['a'] },
        { op: 'default', path: 'temperature', value: 0.5 },
        { op: 'default', path: 'top_p', value: 0.9 },
        { op: 'cap', path: 'max_tokens', value: 100 },
        { op: 'cap', path: 'presence_penalty', value: 1 },
        { op: 'drop', path: 'user' },
        { op: 'drop', path: 'absent.inner' },
      ],
    })
    const sent = async (path: string, body: object) => {
      const response = await rig.gateway.post(path, body)
      await response.text()
      expect(response.status).toBe(200)
      return JSON.parse(Buffer.from(rig.upstream.requests.at(-1)?.body ?? '').toString()) as Record<string, unknown>
    }
    const chat = await sent('/v1/chat/completions', {
      ...question,
      temperature: 0,
      max_tokens: 500,
      presence_penalty: 0.2,
      user: 'someone',
    })
    expect(chat).toEqual({
      ...question,
      temperature: 0,
      top_p: 0.9,
      max_tokens: 100,
      presence_penalty: 0.2,
      provider: { order: ['a'] },
    })
    const message = await sent('/v1/messages', { ...question, max_tokens: 300 })
    expect(message).toMatchObject({ max_tokens: 100, temperature: 0.5, provider: { order: ['a'] } })
  })

  test('a status is mapped before the gateway decides whether to try another channel', async () => {
    await using rig = await rigOf()
    await rig.gateway.setOption('RetryTimes', '1')
    const refusing = await rig.channel({ priority: 5, key: 'first' })
    await rig.channel({ key: 'second' })
    rig.upstream.forKey('first', json(400, { error: { message: 'busy' } }))
    rig.upstream.forKey('second', okChat({ text: 'Hello' }))
    expect(await rig.chat()).toBe(400)
    await rig.raw('PUT', '/api/channel/', { id: refusing, status_map: { '400': 503 } })
    rig.upstream.forKey('first', json(400, { error: { message: 'busy' } }))
    rig.upstream.forKey('second', okChat({ text: 'Hello' }))
    expect(await rig.chat()).toBe(200)
  })

  test('calls, tests, and lists of models go through the channel’s proxy and send the login of that proxy', async () => {
    await using rig = await rigOf()
    await using proxy = await startProxy('name:pass word')
    rig.upstream.always(okChat({ text: 'Hello' }))
    const id = await rig.channel({ proxy: proxy.url, proxy_login: 'name:pass word' })
    expect(await rig.chat()).toBe(200)
    expect((await rig.raw('GET', `/api/channel/test/${id}`))['success']).toBe(true)
    rig.upstream.always(json(200, { data: [{ id: 'm' }] }))
    expect((await rig.raw('GET', `/api/channel/${id}/upstream_models`))['data']).toEqual(['m'])
    const chat = `POST ${rig.upstream.url}/v1/chat/completions`
    expect(proxy.asked).toEqual([chat, chat, `GET ${rig.upstream.url}/v1/models`])
    const shown = await rig.shown(id)
    expect(shown).toMatchObject({ proxy: proxy.url, proxy_has_login: true })
    expect(JSON.stringify(shown)).not.toContain('pass word')
  })

  test('if a proxy is down or refuses the login, the call fails and does not bypass the proxy', async () => {
    await using rig = await rigOf()
    await using proxy = await startProxy('name:right')
    rig.upstream.always(okChat({ text: 'Hello' }))
    const id = await rig.channel({ proxy: proxy.url, proxy_login: 'name:wrong' })
    expect(await rig.chat()).toBeGreaterThanOrEqual(400)
    await rig.raw('PUT', '/api/channel/', { id, proxy: 'http://127.0.0.1:1' })
    expect(await rig.chat()).toBeGreaterThanOrEqual(400)
    expect(rig.upstream.requests).toEqual([])
    const logs = await rig.gateway.logs()
    expect(logs).toEqual([])
  })

  test('a channel test calls the model that is set for tests', async () => {
    await using rig = await rigOf()
    rig.upstream.always(okChat({ text: 'Hello' }))
    const id = await rig.channel({ models: 'a,m', test_model: 'm' })
    await rig.raw('GET', `/api/channel/test/${id}`)
    expect(JSON.parse(Buffer.from(rig.upstream.requests.at(-1)?.body ?? '').toString())).toMatchObject({ model: 'm' })
  })

  test('channels are found by a tag, and a copy of a channel has the same settings', async () => {
    await using rig = await rigOf()
    const id = await rig.channel({ tags: ['eu', 'eu', 'cheap'], remark: 'ask Ann', headers: { 'x-a': '1' } })
    await rig.channel({ tags: ['europe'] })
    const tagged = async (tag: string) =>
      ((await rig.raw('GET', `/api/channel/?tag=${tag}`))['data'] as { id: number }[]).map((each) => each.id)
    expect(await tagged('eu')).toEqual([id])
    const copy = (await rig.raw('POST', `/api/channel/${id}/copy`, {}))['data'] as number
    expect(await tagged('cheap')).toEqual([copy, id])
    expect(await rig.shown(copy)).toMatchObject({ tags: ['eu', 'cheap'], remark: 'ask Ann', headers: { 'x-a': '1' } })
  })
})
