import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { startTestGateway, type TestGateway } from '../../test/helpers/test-gateway.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-console-'))
const script = `export const words = '${'many words '.repeat(100)}'\n`
const page = `<!doctype html><html><head><meta name="base-path" content="/" /><link rel="icon" href="./logo.svg" />
<script type="module" src="./assets/index-abc.js"></script></head><body></body></html>`

mkdirSync(join(folder, 'assets'))
writeFileSync(join(folder, 'index.html'), page)
writeFileSync(join(folder, 'logo.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
writeFileSync(join(folder, 'manifest.json'), '{}')
writeFileSync(join(folder, 'assets/index-abc.js'), script)
writeFileSync(join(folder, 'assets/index-abc.js.br'), brotliCompressSync(script))
writeFileSync(join(folder, 'assets/index-abc.js.gz'), gzipSync(script))
writeFileSync(join(folder, '.hidden'), 'secret')
writeFileSync(join(folder, 'notes.md'), 'not for the browser')

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A request as a browser sends it, without following redirects or decompressing. */
const get = (gateway: TestGateway, path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(gateway.url + path, { method, headers: { 'accept-encoding': 'identity', ...headers }, decompress: false })
const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

describe('the console served from files', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway({ env: { CONSOLE_DIR: folder } })
  })
  afterAll(() => gateway.close())

  test('every route of the console returns the console page, which is revalidated each time', async () => {
    for (const path of ['/', '/login', '/token/edit/5', '/user/reset?email=a&token=b', '/no/such/page']) {
      const response = await get(gateway, path, html)
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(response.headers.get('cache-control')).toBe('no-cache')
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      expect(response.headers.get('referrer-policy')).toBe('same-origin')
      expect(await response.text()).toContain('src="/assets/index-abc.js"')
    }
  })

  test('a page that the browser already has is not sent again', async () => {
    const first = await get(gateway, '/login', html)
    const etag = first.headers.get('etag') ?? ''
    const again = await get(gateway, '/token', { ...html, 'if-none-match': etag })
    expect(again.status).toBe(304)
    expect(await again.text()).toBe('')
    expect((await get(gateway, '/token', { ...html, 'if-none-match': `W/${etag}, "other"` })).status).toBe(304)
    expect((await get(gateway, '/token', { ...html, 'if-none-match': '"other"' })).status).toBe(200)
  })

  test('files with a hash in their name are cached for a year, others are revalidated', async () => {
    const hashed = await get(gateway, '/assets/index-abc.js')
    expect(hashed.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(hashed.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(await hashed.text()).toBe(script)
    const logo = await get(gateway, '/logo.svg')
    expect(logo.headers.get('cache-control')).toBe('no-cache')
    expect(logo.headers.get('content-type')).toBe('image/svg+xml')
  })

  test('brotli and gzip files are sent unchanged to clients that accept them', async () => {
    const encodingOf = async (accepted: string) => {
      const response = await get(gateway, '/assets/index-abc.js', { 'accept-encoding': accepted })
      expect(response.headers.get('vary')).toBe('Accept-Encoding')
      const bytes = (await response.arrayBuffer()).byteLength
      expect(response.headers.get('content-length')).toBe(String(bytes))
      return [response.headers.get('content-encoding'), bytes]
    }
    expect(await encodingOf('gzip, deflate, br')).toEqual(['br', brotliCompressSync(script).byteLength])
    expect(await encodingOf('gzip')).toEqual(['gzip', gzipSync(script).byteLength])
    expect(await encodingOf('br;q=0, gzip;q=0.5')).toEqual(['gzip', gzipSync(script).byteLength])
    expect(await encodingOf('identity')).toEqual([null, script.length])
  })

  test('HEAD returns the same as GET, without a body', async () => {
    const response = await get(gateway, '/assets/index-abc.js', {}, 'HEAD')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-length')).toBe(String(script.length))
    expect(await response.text()).toBe('')
    expect((await get(gateway, '/login', html, 'HEAD')).status).toBe(200)
  })

  test('API paths, missing files and paths that are not pages return 404', async () => {
    const paths = [
      '/api/nothing',
      '/v1/nothing',
      '/assets/gone-123.js',
      '/assets',
      '/favicon.ico',
      '/.hidden',
      '/notes.md',
      '/manifest.json',
      '/..%2f..%2fpackage.json',
      '/assets/..%2findex.html',
    ]
    for (const path of paths) {
      const response = await get(gateway, path, html)
      expect([path, response.status]).toEqual([path, 404])
      expect(response.headers.get('content-type')).toStartWith('application/json')
    }
    expect((await get(gateway, '/token', { accept: 'application/json' })).status).toBe(404)
    expect((await get(gateway, '/token', html, 'POST')).status).toBe(404)
  })

  test('the content security policy allows the page itself and no inline script or style', async () => {
    const policy = (await get(gateway, '/', html)).headers.get('content-security-policy') ?? ''
    expect(policy).toContain("script-src 'self';")
    expect(policy).toContain("style-src 'self';")
    expect(policy).toContain("connect-src 'self';")
    expect(policy).toContain("frame-src 'none';")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
  })

  test('a URL in a setting cannot add anything else to the content security policy', async () => {
    const before = (await get(gateway, '/', html)).headers.get('content-security-policy')
    for (const address of [
      'https://x;sandbox',
      'https://x;script-src',
      "https://x'unsafe-inline'",
      'https://x,default-src',
      'https://x*y.example',
      'https://*',
      "https://'self'",
    ]) {
      await gateway.api('PUT', '/api/option/', { key: 'HomePageContent', value: address })
      await gateway.api('PUT', '/api/option/', { key: 'About', value: ` ${address}/path` })
      const policy = (await get(gateway, '/', html)).headers.get('content-security-policy')
      expect([address, policy]).toEqual([address, before])
    }
    for (const address of ['https://[2001:db8::1]:8443/page', 'http://home_page.example:8080']) {
      await gateway.api('PUT', '/api/option/', { key: 'About', value: address })
      const policy = (await get(gateway, '/', html)).headers.get('content-security-policy') ?? ''
      expect(policy).toContain(`frame-src ${new URL(address).origin};`)
    }
    for (const key of ['HomePageContent', 'About']) await gateway.api('PUT', '/api/option/', { key, value: '' })
  })

  test('after frames or the bot check are set, the policy of the next page load allows them', async () => {
    await gateway.api('PUT', '/api/option/', { key: 'ChatLink', value: 'https://chat.example/path' })
    await gateway.api('PUT', '/api/option/', { key: 'HomePageContent', value: 'https://home.example/' })
    await gateway.api('PUT', '/api/option/', { key: 'About', value: '# https://not.an.address' })
    const policy = (await get(gateway, '/', html)).headers.get('content-security-policy') ?? ''
    expect(policy).toContain('frame-src https://chat.example https://home.example;')
    await gateway.api('PUT', '/api/option/', { key: 'TurnstileSiteKey', value: 'site' })
    await gateway.api('PUT', '/api/option/', { key: 'TurnstileSecretKey', value: 'secret' })
    await gateway.api('PUT', '/api/option/', { key: 'TurnstileCheckEnabled', value: 'true' })
    const checked = (await get(gateway, '/', html)).headers.get('content-security-policy') ?? ''
    expect(checked).toContain("script-src 'self' https://challenges.cloudflare.com;")
    expect(checked).toContain('frame-src https://challenges.cloudflare.com https://chat.example https://home.example;')
  })
})

describe('under a base path', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway({ env: { CONSOLE_DIR: folder, BASE_PATH: '/gateway/' } })
  })
  afterAll(() => gateway.close())

  test('the page and its files are served with the base path and, for proxies that strip it, without it', async () => {
    for (const path of ['/gateway', '/gateway/', '/gateway/token/edit/5', '/token/edit/5']) {
      const body = await (await get(gateway, path, html)).text()
      expect(body).toContain('src="/gateway/assets/index-abc.js"')
      expect(body).toContain('href="/gateway/logo.svg"')
      expect(body).toContain('name="base-path" content="/gateway/"')
    }
    expect((await get(gateway, '/gateway/assets/index-abc.js')).status).toBe(200)
    expect((await get(gateway, '/assets/index-abc.js')).status).toBe(200)
    expect((await get(gateway, '/gatewayassets/index-abc.js')).status).toBe(404)
  })

  test('the API and the relay work under the base path, too, including request bodies and refusals', async () => {
    const status = await (await get(gateway, '/gateway/api/status')).json()
    expect(status).toMatchObject({ success: true })
    const login = await fetch(`${gateway.url}/gateway/api/user/login`, {
      method: 'POST',
      body: JSON.stringify({ username: 'root', password: 'root password' }),
    })
    expect(await login.json()).toMatchObject({ success: true, data: { username: 'root' } })
    const models = await fetch(`${gateway.url}/gateway/v1/models`, { headers: { authorization: 'Bearer sk-nobody' } })
    expect(models.status).toBe(401)
    const call = await fetch(`${gateway.url}/gateway/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-nobody' },
      body: '{}',
    })
    expect(call.status).toBe(401)
  })
})

test('a request to an API path with an extra leading slash does not get the console page', async () => {
  const gateway = await startTestGateway({ env: { CONSOLE_DIR: folder } })
  for (const path of ['//v1/models', '//api/status', '///v1beta/models']) {
    // The request is not sent over a socket, because the client would normalise the path.
    const request = new Request(gateway.url + path, { headers: html })
    expect([path, (await gateway.app.fetch(request, {})).status]).toEqual([path, 404])
  }
  await gateway.close()
})

test('if the console is not built, a page explains what to do, and the API works', async () => {
  const gateway = await startTestGateway({ env: { CONSOLE_DIR: join(folder, 'nothing') } })
  const response = await get(gateway, '/login', html)
  expect(response.status).toBe(200)
  expect(await response.text()).toContain('npm run build')
  expect((await get(gateway, '/api/status')).status).toBe(200)
  await gateway.close()
})
