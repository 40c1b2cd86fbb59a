// URLs that the server itself calls: who may set them, where they may lead, and what is sent there. Numbers in titles,
// such as 8.5-4, are items of table.md.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { forEachDatabase } from '../helpers/databases.ts'
import { startFakeUpstream } from '../helpers/fake-upstream.ts'
import { setOptions } from '../helpers/mail-server.ts'
import { startService, startWeChatHelper } from '../helpers/outside-services.ts'
import { startTestGateway } from '../helpers/test-gateway.ts'
import { type Attacker, type Scene, scene } from './setup.ts'

setDefaultTimeout(120_000)

/** Ways to write the address of a cloud's metadata service. */
const metadata = [
  'http://169.254.169.254/latest/meta-data/',
  'http://169.254.169.254.:80/',
  'http://2852039166/',
  'http://0xA9FEA9FE/',
  'http://0251.0376.0251.0376/',
  'http://169.254.43518/',
  'http://[::ffff:169.254.169.254]/',
  'http://[::ffff:a9fe:a9fe]/',
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://[64:ff9b:1::a9fe:a9fe]/',
  'http://[64:ff9b:1:a9fe:a9:fe00::]/',
  'http://[::ffff:0:a9fe:a9fe]/',
  'http://[2001:0:102:304::5601:5601]/',
  'http://[2001:db8::5efe:a9fe:a9fe]/',
  'http://[fd00:ec2::254]/',
  'http://metadata.google.internal/computeMetadata/v1/',
  'http://METADATA.google.internal./',
  'http://100.100.100.200/',
]

const called = [
  'WeChatServerAddress',
  'GitHubOAuthBaseURL',
  'GitHubApiBaseURL',
  'TurnstileVerifyURL',
  'NotifyWebhookURL',
  'MessagePusherAddress',
  'UpdateFeedURL',
]

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

  const save = async (key: string, value: string, as: Attacker) =>
    (await set.api.call('PUT', '/api/option/', { as: as.token, body: { key, value } })).json.success

  test('8.5-4 only root can set the URLs that receive our secrets, and the address of a metadata service is refused however it is written', async () => {
    for (const key of called) {
      expect([key, await save(key, 'https://example.com', admin)]).toEqual([key, false])
      for (const value of [
        ...metadata,
        'file:///etc/passwd',
        'gopher://127.0.0.1:1/',
        'ftp://example.com/',
        '127.0.0.1:80',
        'http://',
      ]) {
        expect([key, value, await save(key, value, root)]).toEqual([key, value, false])
      }
    }
    for (const base_url of metadata) {
      const body = { type: 1, name: 'x', key: 'k', models: 'm', base_url }
      const { json } = await set.api.call('POST', '/api/channel/', { as: admin.token, body })
      expect([base_url, json.success]).toEqual([base_url, false])
    }
  })

  test('8.5-4 a WeChat code is sent as one encoded value: it cannot change the host, the path or the other parameters of the call', async () => {
    await using helper = await startWeChatHelper()
    await setOptions(set.api, {
      WeChatServerAddress: helper.url,
      WeChatServerToken: helper.token,
      WeChatAuthEnabled: 'true',
    })
    for (const code of ['x&token=1', '../../admin', '@evil.example/', '?a=b#', 'x\r\nHost: evil', '%00']) {
      await set.api.call('GET', `/api/oauth/wechat?code=${encodeURIComponent(code)}`)
    }
    for (const { url, headers } of helper.requests) {
      const { pathname, searchParams } = new URL(url, helper.url)
      expect([url, pathname, [...searchParams.keys()]]).toEqual([url, '/api/wechat/user', ['code']])
      expect(headers.host).toBe(new URL(helper.url).host)
    }
  })

  test('8.5-5 a redirect of an external service is not followed, and its target gets no secret', async () => {
    await using inner = await startService((_request, response) => response.end('{"success":true,"data":"stolen"}'))
    await using outer = await startService((_request, response) =>
      response.writeHead(302, { location: `${inner.url}/api/wechat/user` }).end(),
    )
    await setOptions(set.api, {
      WeChatServerAddress: outer.url,
      WeChatServerToken: 'wechat secret',
      WeChatAuthEnabled: 'true',
      GitHubOAuthBaseURL: outer.url,
      GitHubApiBaseURL: outer.url,
      GitHubClientId: 'id',
      GitHubClientSecret: 'client secret',
      GitHubOAuthEnabled: 'true',
      OAuthStateOptional: 'true',
      TurnstileVerifyURL: outer.url,
      TurnstileSecretKey: 'turnstile secret',
    })
    for (const path of ['/api/oauth/wechat?code=1', '/api/oauth/github?code=1']) {
      const { json, headers } = await set.api.call('GET', path)
      expect([path, json.success, headers.getSetCookie()]).toEqual([path, false, []])
    }
    await setOptions(set.api, { TurnstileCheckEnabled: 'true' })
    const { json } = await set.api.call('GET', '/api/verification?email=a@example.com&turnstile=x')
    expect(json.success).toBe(false)
    expect(outer.requests.length).toBe(3)
    expect(inner.requests).toEqual([])
  })
})

test('8.5-3 URLs in a request are passed to the upstream: the gateway fetches none of them', async () => {
  await using upstream = await startFakeUpstream()
  await using inner = await startService((_request, response) => response.end('internal'))
  await using gate = await startTestGateway()
  await gate.setOption('ModelRatio', '{"m":1,"dall-e-2":1,"gpt-image-1":1}')
  await gate.addChannel({ base_url: upstream.url, models: 'm,dall-e-2,gpt-image-1' })
  for (const url of [`${inner.url}/secret.png`, metadata[0] ?? '', 'http://localhost:1/']) {
    const parts = [
      { type: 'image_url', image_url: { url } },
      { type: 'input_audio', input_audio: { data: url, format: 'wav' } },
      { type: 'file', file: { file_data: url, file_url: url } },
      { type: 'video_url', video_url: { url } },
    ]
    const chat = { model: 'm', messages: [{ role: 'user', content: parts }] }
    expect((await gate.post('/v1/chat/completions', chat)).status).toBe(200)
    expect(upstream.last.text).toContain(url)
    await gate.post('/v1/images/edits', { model: 'gpt-image-1', prompt: 'x', images: [{ image_url: url }] })
  }
  expect(inner.requests).toEqual([])
})

test('8.5-3 for upstreams that need the file itself, the gateway fetches only URLs on the public internet', async () => {
  await using inner = await startService((_request, response) =>
    response.writeHead(200, { 'content-type': 'image/png' }).end('secret'),
  )
  await using upstream = await startFakeUpstream()
  await using gate = await startTestGateway()
  await gate.setOption('ModelRatio', '{"m":1}')
  const port = new URL(inner.url).port
  const inside = [
    `${inner.url}/a.png`,
    `http://localhost:${port}/a.png`,
    `http://127.1:${port}/a.png`,
    `http://[::1]:${port}/a.png`,
    `http://[::ffff:127.0.0.1]:${port}/a.png`,
    'http://10.0.0.1/a.png',
    'http://100.64.0.1/a.png',
    ...metadata,
  ]
  const claude = 'claude-3-haiku-20240307'
  const channels = [
    { type: 24, key: 'k' },
    { type: 30, key: 'k' },
    { type: 33, key: 'AK|SK|us-east-1' },
  ]
  for (const channel of channels) {
    const id = await gate.addChannel({ ...channel, base_url: upstream.url, models: `m,${claude}` })
    for (const url of inside) {
      const image = { type: 'image_url', image_url: { url } }
      const chat = { model: 'm', messages: [{ role: 'user', content: [image] }] }
      const message = { role: 'user', content: [{ type: 'image', source: { type: 'url', url } }] }
      for (const [path, body] of [
        ['/v1/chat/completions', chat],
        ['/v1/messages', { model: 'm', max_tokens: 5, messages: [message] }],
        // Claude on Bedrock uses Anthropic's request format, like the caller. But Bedrock does not fetch URLs, so the
        // gateway has to.
        ['/v1/messages', { model: claude, max_tokens: 5, messages: [message] }],
      ] as const) {
        const answer = await gate.post(path, body, `${gate.token}-${id}`)
        expect([channel.type, path, url, answer.status]).toEqual([channel.type, path, url, 400])
      }
    }
  }
  expect(inner.requests).toEqual([])
  expect(upstream.requests).toEqual([])
})

test('8.5-5 a redirect of an upstream is not followed: neither the key nor the prompt is sent to its target', async () => {
  await using inner = await startFakeUpstream()
  for (const status of [301, 302, 307, 308]) {
    await using upstream = await startService((_request, response) =>
      response.writeHead(status, { location: `${inner.url}/v1/chat/completions` }).end(),
    )
    await using gate = await startTestGateway()
    await gate.setOption('ModelRatio', '{"m":1}')
    const id = await gate.addChannel({ base_url: upstream.url, models: 'm' })
    const answer = await gate.post('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'hi' }] })
    expect([status, answer.status]).toEqual([status, 502])
    for (const path of [
      `/api/channel/test/${id}`,
      `/api/channel/update_balance/${id}`,
      `/api/channel/${id}/upstream_models`,
    ]) {
      await gate.api('GET', path).catch(() => undefined)
    }
  }
  expect(inner.requests).toEqual([])
})
