import { expect, test } from 'bun:test'
import { startService } from '../../test/helpers/outside-services.ts'
import { createPostMessage, type PostMessageOptions } from './post-message.ts'

const here: PostMessageOptions = {
  resolve: async (name) => ({ 'hooks.example': ['127.0.0.1'], 'both.example': ['127.0.0.1', '10.0.0.5'] })[name] ?? [],
  allows: (address) => address === '127.0.0.1',
}
const failure = (work: Promise<unknown>) =>
  work.then(
    () => 'no failure',
    (error: Error) => error.message,
  )
const post = (url: string, options: PostMessageOptions = here, by: 'user' | 'operator' = 'user') =>
  createPostMessage(options)({ url, body: '{"a":"ü"}', headers: { 'x-own': '1' } }, by)

test('a message arrives with its headers, and the beginning of the response is returned', async () => {
  for (const by of ['user', 'operator'] as const) {
    await using service = await startService((_, response) => response.writeHead(202).end('y'.repeat(3000)))
    const url = by === 'user' ? service.url.replace('127.0.0.1', 'hooks.example') : service.url
    const answer = await post(`${url}/in?key=1`, here, by)
    expect([answer.status, answer.text.length]).toEqual([202, 3000])
    const [seen] = service.requests
    expect(seen).toMatchObject({ method: 'POST', url: '/in?key=1', body: '{"a":"ü"}' })
    expect(seen?.headers).toMatchObject({ 'x-own': '1', 'user-agent': 'tollgate', host: new URL(url).host })
  }
})

test('a message to a private address in any notation is refused if a user chose the URL', async () => {
  for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::1]', '10.0.0.1', '169.254.169.254', '[fd00::1]'])
    expect([host, await failure(post(`http://${host}/`, {}))]).toEqual([
      host,
      expect.stringMatching(/not public|could not be resolved/),
    ])
  expect(await failure(post('http://both.example/'))).toContain('not public')
  expect(await failure(post('http://nowhere.example/'))).toContain('could not be resolved')
  expect(await failure(post('http://name:pass@hooks.example/'))).toContain('password')
  expect(await failure(post('file:///etc/passwd'))).toContain('http://')
})

test('a host name is resolved only once, so that it cannot resolve to another address the second time', async () => {
  await using service = await startService((_, response) => response.end('ok'))
  let asked = 0
  const resolve = async () => (asked++ === 0 ? ['127.0.0.1'] : ['10.0.0.5'])
  const url = service.url.replace('127.0.0.1', 'turns.example')
  expect((await post(url, { ...here, resolve })).text).toBe('ok')
  expect(asked).toBe(1)
})

test('redirects are not followed', async () => {
  await using target = await startService((_, response) => response.end('secret'))
  for (const by of ['user', 'operator'] as const) {
    await using service = await startService((_, response) => response.writeHead(307, { location: target.url }).end())
    const url = service.url.replace('127.0.0.1', by === 'user' ? 'hooks.example' : '127.0.0.1')
    expect((await post(url, here, by)).status).toBe(307)
  }
  expect(target.requests).toEqual([])
})

test('operators do not reach the metadata service of a cloud', async () => {
  for (const host of ['169.254.169.254', '0xa9fea9fe', 'metadata.google.internal'])
    expect(await failure(post(`http://${host}/`, {}, 'operator'))).toContain('metadata')
})

test('a silent service, an endless response and a closed port cause errors whose messages do not contain the URL', async () => {
  await using silent = await startService(() => undefined)
  await using endless = await startService((_, response) => {
    response.writeHead(200)
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(4096)));
    }
    response.on('drain', more)
    more()
  })
  for (const by of ['user', 'operator'] as const) {
    const at = (url: string) => url.replace('127.0.0.1', by === 'user' ? 'hooks.example' : '127.0.0.1')
    const options = { ...here, timeoutMs: 300 }
    expect(await failure(post(`${at(silent.url)}/secret`, options, by))).toBe('The service did not respond in time.')
    expect((await post(at(endless.url), { ...here, timeoutMs: 3000 }, by)).status).toBe(200)
    expect(await failure(post(`${at('http://127.0.0.1:1')}/secret`, here, by))).toMatch(/cannot be reached/)
  }
})
