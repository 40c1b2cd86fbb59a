// What other sites' pages, or an attacker who has planted a cookie in the browser, can do with another user's session.
// Numbers in titles, such as 8.5-13, are items of table.md.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { request as httpRequest } from 'node:http'
import type { Endpoint } from '../../contract/api/endpoint.ts'
import { api as contract } from '../../contract/api/index.ts'
import { cookieOf } from '../helpers/api-app.ts'
import { forEachDatabase } from '../helpers/databases.ts'
import { openPublicPages } from '../helpers/mail-server.ts'
import { startTestGateway } from '../helpers/test-gateway.ts'
import { type Attacker, belongings, password, type Scene, scene } from './setup.ts'

setDefaultTimeout(120_000)

const endpoints: Endpoint[] = Object.values(contract).flatMap((resource) => Object.values(resource) as Endpoint[])

/** State-changing GET endpoints that clients of one-api call. */
const changingGets = [
  '/api/user/token',
  '/api/user/aff',
  '/api/user/logout',
  '/api/verification',
  '/api/reset_password',
  '/api/oauth/state',
  '/api/oauth/github/start',
  '/api/oauth/github',
  '/api/oauth/wechat',
  '/api/oauth/wechat/bind',
  '/api/oauth/email/bind',
  '/api/channel/test',
  '/api/channel/test/{id}',
  '/api/channel/update_balance',
  '/api/channel/update_balance/{id}',
]

/** Headers that a browser sends with a request from another site's page. */
const otherSites: Record<string, string>[] = [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { origin: 'http://evil.example' },
  { origin: 'null' },
  { referer: 'http://evil.example/page' },
  { origin: 'http://localhost.evil.example' },
  // A form submission, which needs no preflight.
  { origin: 'http://evil.example', 'content-type': 'text/plain' },
]

/** Headers of requests that none of our scripts make: a link in an email, a bookmark, an image in a page. */
const pageLoads: Record<string, string>[] = [
  {
    'sec-fetch-site': 'none',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
    accept: 'text/html,*/*;q=0.8',
  },
  { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image', accept: 'image/avif,*/*' },
  { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
  // Prefetches and download links.
  { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'empty' },
  { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'empty' },
  // Without TLS, browsers send no Sec-Fetch headers, so these requests are recognised by their Accept header.
  { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' },
  { accept: 'image/avif,image/webp,image/apng,image/*,*/*;q=0.8', referer: 'http://localhost/' },
  { accept: 'text/css,*/*;q=0.1' },
]

/** Headers sent by the console's own script and by programs. */
const scripts: Record<string, string>[] = [
  { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', accept: 'application/json' },
  // A browser extension, which has the cookies but does not belong to any site.
  { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', accept: '*/*' },
  { accept: 'application/json', referer: 'http://localhost/' },
  { accept: '*/*' },
  { accept: 'application/json, text/plain, */*' },
  {},
]

forEachDatabase((_, openFresh) => {
  let set: Scene
  let root: Attacker

  beforeEach(async () => {
    set = await scene(await openFresh())
    root = await set.person(100)
  })
  afterEach(() => set.api.store.close())

  test('CSRF: no state-changing call is accepted from another site’s page, whoever the user is and whatever the format', async () => {
    const cookie = await set.session(root)
    const before = JSON.stringify([await set.rows('users'), await set.rows('options'), await set.rows('sessions')])
    const changing = endpoints.filter(({ method, changesState }) => method !== 'GET' || changesState)
    const paths = changing.filter(({ method }) => method === 'GET').map(({ path }) => path)
    expect(changingGets.filter((path) => !paths.includes(path))).toEqual([])
    const body = {
      id: root.id,
      username: root.username,
      action: 'disable',
      display_name: 'pwned',
      key: 'Notice',
      value: 'pwned',
    }
    for (const { method, path } of changing) {
      for (const headers of otherSites) {
        const takesBody = method === 'POST' || method === 'PUT'
        const answer = await set.api.call(method, path.replace('{id}', '1'), {
          cookie,
          headers,
          ...(takesBody && { body }),
        })
        expect([method, path, JSON.stringify(headers), answer.status]).toEqual([
          method,
          path,
          JSON.stringify(headers),
          403,
        ])
      }
    }
    expect(JSON.stringify([await set.rows('users'), await set.rows('options'), await set.rows('sessions')])).toBe(
      before,
    )
  })

  test('CSRF: no state-changing GET is accepted as a page load or an image, with or without a session', async () => {
    const cookie = await set.session(root)
    const tables = ['users', 'options', 'sessions', 'one_time_codes'] as const
    const everything = async () => JSON.stringify(await Promise.all(tables.map((table) => set.rows(table))))
    const before = await everything()
    for (const path of changingGets) {
      for (const headers of pageLoads) {
        for (const as of [{ cookie }, {}]) {
          const answer = await set.api.call('GET', path.replace('{id}', '1'), { ...as, headers })
          expect([path, JSON.stringify(headers), answer.status]).toEqual([path, JSON.stringify(headers), 403])
        }
      }
    }
    expect(await everything()).toBe(before)
    for (const headers of scripts) {
      const answer = await set.api.call('GET', '/api/user/aff', { cookie, headers })
      expect([JSON.stringify(headers), answer.json.success]).toEqual([JSON.stringify(headers), true])
      expect((await set.api.call('GET', '/api/oauth/state', { headers })).json.success).toBe(true)
    }
    // A browser never adds an access token to a page load by itself, so a request with a token is accepted whatever
    // headers it has.
    for (const headers of pageLoads) {
      expect((await set.api.call('GET', '/api/user/aff', { as: root.token, headers })).json.success).toBe(true)
    }
  })

  test('CSRF: a GET triggered by another site’s page changes nothing', async () => {
    const tables = ['users', 'tokens', 'channels', 'redemptions', 'options', 'sessions', 'logs'] as const
    const everything = async () => JSON.stringify(await Promise.all(tables.map((table) => set.rows(table))))
    const person = await set.person()
    await belongings(set, person, root)
    await openPublicPages(set.api)
    const cookie = await set.session(root)
    const before = await everything()
    for (const { method, path, changesState, media } of endpoints) {
      // Event streams are skipped, because they do not end.
      if (method !== 'GET' || changesState || media === 'text/event-stream') continue
      const { status } = await set.api.app.request(path.replace('{id}', '1'), {
        headers: { cookie, 'sec-fetch-site': 'cross-site' },
      })
      expect([path, status]).toEqual([path, 200])
    }
    expect(await everything()).toBe(before)
  })

  test('CSRF: a page cannot log a browser in to an account of the attacker’s choosing', async () => {
    for (const headers of otherSites) {
      const answer = await set.api.call('POST', '/api/user/login', {
        body: { username: root.username, password },
        headers,
      })
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([403, []])
    }
  })

  test('8.5-13 no response of the management API allows another site to read it', async () => {
    const cookie = await set.session(root)
    for (const headers of [{ origin: 'http://evil.example' }, { origin: 'null' }]) {
      for (const path of ['/api/status', '/api/user/self', '/api/token/', '/api/option/']) {
        const answer = await set.api.call('GET', path, { cookie, headers })
        expect([
          path,
          answer.headers.get('access-control-allow-origin'),
          answer.headers.get('access-control-allow-credentials'),
        ]).toEqual([path, null, null])
      }
      const asked = await set.api.call('OPTIONS', '/api/user/self', {
        cookie,
        headers: { ...headers, 'access-control-request-method': 'PUT' },
      })
      expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([404, null])
    }
  })

  test('session fixation: a cookie planted before the login is no longer valid after it', async () => {
    const planted = `session=${'A'.repeat(43)}`
    const login = await set.api.call('POST', '/api/user/login', {
      cookie: planted,
      body: { username: root.username, password },
    })
    const own = cookieOf(login)
    expect(own).not.toBe(planted)
    expect((await set.api.call('GET', '/api/user/self', { cookie: planted })).status).toBe(401)
    expect((await set.api.call('GET', '/api/user/self', { cookie: own })).json.success).toBe(true)

    // A real session of the attacker, planted in the victim's browser, ends when the victim logs in.
    const attacker = await set.person()
    const theirs = await set.session(attacker)
    const victim = await set.api.call('POST', '/api/user/login', {
      cookie: theirs,
      body: { username: root.username, password },
    })
    expect(cookieOf(victim)).not.toBe(theirs)
    expect((await set.api.call('GET', '/api/user/self', { cookie: theirs })).status).toBe(401)
  })

  test('session fixation: when a request has two cookies with the same name, neither a planted nor an empty one logs anybody in', async () => {
    const own = await set.session(root)
    for (const cookie of [
      'session=',
      'session=undefined',
      'session=null',
      `session=${'x'.repeat(4000)}`,
      'session=%00',
      'session="',
      `Session=${own.slice(8)}`,
    ]) {
      expect([cookie, (await set.api.call('GET', '/api/user/self', { cookie })).status]).toEqual([cookie, 401])
    }
    const answer = await set.api.call('GET', '/api/user/self', { cookie: `${own.slice(0, 20)}; other=1` })
    expect(answer.status).toBe(401)
  })

  test('session fixation: a logout, a new password and a new login each invalidate the old cookie', async () => {
    const person = await set.person()
    const first = await set.session(person)
    await set.api.call('GET', '/api/user/logout', { cookie: first })
    expect((await set.api.call('GET', '/api/user/self', { cookie: first })).status).toBe(401)
    const second = await set.session(person)
    const changed = await set.api.call('PUT', '/api/user/self', {
      cookie: second,
      body: { password: 'another password' },
    })
    expect((await set.api.call('GET', '/api/user/self', { cookie: second })).status).toBe(401)
    expect((await set.api.call('GET', '/api/user/self', { cookie: cookieOf(changed) })).json.success).toBe(true)
  })
})

test('8.5-17 only the path decides what is served; Host and forwarding headers give no extra access', async () => {
  await using gate = await startTestGateway()
  const { hostname, port } = new URL(gate.url)
  const ask = (path: string, headers: Record<string, string>) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const request = httpRequest({ hostname, port, path, headers }, (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
      request.on('error', reject)
      request.end()
    })
  const hosts = [
    'localhost',
    '127.0.0.1',
    'x/api/status',
    'localhost/api/status?',
    'localhost#',
    '..',
    'a@localhost',
    '[::1]',
    'api',
  ]
  for (const host of hosts) {
    const extras: Record<string, string>[] = [
      {},
      { 'x-original-url': '/api/status' },
      { 'x-rewrite-url': '/api/status' },
      { 'x-forwarded-host': 'localhost' },
      { 'x-forwarded-prefix': '/api/status' },
      { 'x-forwarded-for': '127.0.0.1' },
    ]
    for (const extra of extras) {
      for (const path of [
        '/api/option/',
        '/api/user/self',
        '/api/../api/option/',
        '//api/option/',
        '/api//option/',
        '/api/status/%2e%2e/option/',
        '/api/option;x=/api/status',
        '/v1/models',
      ]) {
        const { status, text } = await ask(path, { host, ...extra })
        expect([host, JSON.stringify(extra), path, [400, 401, 404].includes(status)]).toEqual([
          host,
          JSON.stringify(extra),
          path,
          true,
        ])
        expect(text).not.toContain('"success":true')
      }
    }
  }
  // An absolute URL in the request line gives no access either.
  expect((await ask('http://127.0.0.1/api/option/', { host: 'localhost' })).status).toBe(401)
})
