import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import http, { type RequestListener, type Server } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { selfSignedCertificate } from '../../test/helpers/fake-upstream/certificate.ts'
import { createFetchMedia, type FetchMediaOptions } from './fetch-media.ts'
import { mediaTypeOf } from './media-type.ts'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

let server: Server
let port = 0
/** The response for each path. */
const answers = new Map<string, RequestListener>()
const seen: { path: string; headers: http.IncomingHttpHeaders }[] = []

beforeAll(async () => {
  server = http.createServer((request, response) => {
    seen.push({ path: request.url ?? '', headers: request.headers })
    const answer = answers.get(request.url ?? '')
    if (answer) answer(request, response)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
})

/** Host names of a simulated internet, and the addresses to which they resolve. */
const names: Record<string, string[]> = {
  'images.example': ['127.0.0.1'],
  'inside.example': ['10.0.0.5'],
  'none.example': [],
}
const here = (options: FetchMediaOptions = {}) =>
  createFetchMedia({
    resolve: async (name) => names[name] ?? [],
    allows: (address) => address === '127.0.0.1',
    ...options,
  })
const at = (path: string, host = 'images.example') => `http://${host}:${port}${path}`
const serve = (path: string, answer: RequestListener) => {
  answers.set(path, answer)
  return at(path)
}
const picture = (path: string, type = 'image/png') =>
  serve(path, (_request, response) => response.writeHead(200, { 'content-type': type }).end(png))

async function fault(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    return (error as Error).message
  }
  return 'no fault'
}

describe('a file at a URL', () => {
  test('is returned with its bytes and type, and the request contains nothing about the caller', async () => {
    const url = picture('/a.png?key=1')
    expect(await here()(url)).toEqual({ data: png.toString('base64'), mediaType: 'image/png' })
    const last = seen.at(-1)
    expect(last?.headers.host).toBe(`images.example:${port}`)
    expect(Object.keys(last?.headers ?? {}).sort()).toEqual(['accept', 'accept-encoding', 'connection', 'host'])
  })

  test('gets its type from its bytes if the declared type is wrong or missing', async () => {
    expect((await here()(picture('/b', 'image/jpeg'))).mediaType).toBe('image/png')
    expect((await here()(picture('/c', 'application/octet-stream'))).mediaType).toBe('image/png')
  })

  test('is refused if it is HTML, JSON, SVG or plain text', async () => {
    for (const type of ['text/html', 'application/json', 'image/svg+xml', 'text/plain']) {
      const url = serve('/d', (_request, response) => response.writeHead(200, { 'content-type': type }).end('<svg/>'))
      expect(await fault(here()(url))).toContain('neither an image, nor a sound, nor a PDF')
    }
  })

  test('is fetched through redirects', async () => {
    picture('/end')
    const url = serve('/start', (_request, response) => response.writeHead(302, { location: '/end' }).end())
    expect((await here()(url)).mediaType).toBe('image/png')
  })
})

describe('URL checks', () => {
  const before = () => seen.length
  const inside = [
    'http://127.0.0.1/a.png',
    'http://localhost/a.png',
    'http://2130706433/a.png',
    'http://0x7f.1/a.png',
    'http://[::1]/a.png',
    'http://[::ffff:127.0.0.1]/a.png',
    'http://10.0.0.1/a.png',
    'http://169.254.169.254/latest/meta-data',
    'http://100.64.0.1/a.png',
    'http://[64:ff9b::7f00:1]/a.png',
    'http://[fd00::1]/a.png',
  ]
  for (const url of inside) {
    test(`${url} is refused, because it is not public`, async () => {
      expect(await fault(createFetchMedia()(url.replace('/a.png', `:${port}/a.png`)))).toMatch(/not public|no address/)
    })
  }

  test('refuses a name that resolves to a private address, alone or next to a public one', async () => {
    const count = before()
    expect(await fault(here()(at('/a.png', 'inside.example')))).toContain('not public')
    names['both.example'] = ['127.0.0.1', '10.0.0.5']
    expect(await fault(here()(at('/a.png', 'both.example')))).toContain('not public')
    expect(seen.length).toBe(count)
  })

  test('refuses a redirect to a private address', async () => {
    for (const location of ['http://169.254.169.254/', 'http://inside.example/', 'http://[::1]/', '//10.0.0.1/']) {
      const url = serve('/out', (_request, response) => response.writeHead(302, { location }).end())
      expect(await fault(here()(url))).toContain('not public')
    }
  })

  test('refuses a redirect to another scheme, a redirect without a target, and a redirect loop', async () => {
    const to = (location: string) => serve('/away', (_request, response) => response.writeHead(302, { location }).end())
    expect(await fault(here()(to('file:///etc/passwd')))).toContain('http or https')
    expect(await fault(here()(to('')))).toContain('nowhere')
    expect(await fault(here()(to('/away')))).toContain('too often')
  })

  test('looks a name up only once, so that it cannot resolve to another address the second time', async () => {
    let asked = 0
    const resolve = async () => (asked++ === 0 ? ['127.0.0.1'] : ['10.0.0.5'])
    picture('/pinned')
    expect((await here({ resolve })(at('/pinned', 'turns.example'))).mediaType).toBe('image/png')
    expect(asked).toBe(1)
  })

  test('refuses a URL with another scheme, with a password, or with an unknown name', async () => {
    for (const url of ['ftp://images.example/a', 'gopher://images.example/', 'data:image/png;base64,AAAA', 'nonsense'])
      expect(await fault(here()(url))).toMatch(/http or https|no address/)
    expect(await fault(here()(`http://user:secret@images.example:${port}/a.png`))).toContain('password')
    expect(await fault(here()('http://none.example/'))).toContain('name is not known')
  })
})

describe('misbehaving servers', () => {
  test('refuses a file that is too large, whether or not its length was announced', async () => {
    const mostBytes = 10 * 1024
    const announced = serve('/big', (_request, response) =>
      response.writeHead(200, { 'content-type': 'image/png', 'content-length': '1000000' }).write('x'),
    )
    expect(await fault(here({ mostBytes })(announced))).toContain('larger than 10 KiB')
    const endless = serve('/endless', (_request, response) => {
      response.writeHead(200, { 'content-type': 'image/png' })
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(4096)));
      }
      response.on('drain', more)
      more()
    })
    expect(await fault(here({ mostBytes })(endless))).toContain('larger than 10 KiB')
  })

  test('gives up on a server that sends nothing, or that starts and never finishes', async () => {
    const silent = serve('/silent', () => undefined)
    expect(await fault(here({ timeoutMs: 50 })(silent))).toContain('in time')
    const stuck = serve('/stuck', (_request, response) =>
      response.writeHead(200, { 'content-type': 'image/png' }).write(png),
    )
    expect(await fault(here({ timeoutMs: 50 })(stuck))).toContain('in time')
  })

  test('gives up if the name lookup does not end', async () => {
    const resolve = () => new Promise<never>(() => undefined)
    expect(await fault(here({ timeoutMs: 50, resolve })(at('/a.png')))).toContain('in time')
  })

  test('refuses a response that breaks off, is an error, or is compressed', async () => {
    const broken = serve('/broken', (_request, response) => {
      response.writeHead(200, { 'content-type': 'image/png', 'content-length': '5000' })
      response.write(png, () => response.destroy())
    })
    expect(await fault(here()(broken))).toMatch(/interrupted|cannot be reached/)
    expect(await fault(here()(at('/missing')))).toContain('status 404')
    const compressed = serve('/compressed', (_request, response) =>
      response.writeHead(200, { 'content-type': 'image/png', 'content-encoding': 'gzip' }).end('x'),
    )
    expect(await fault(here()(compressed))).toContain('compressed')
  })

  test('stops waiting once the caller has disconnected', async () => {
    const controller = new AbortController()
    const silent = serve('/left', () => controller.abort())
    expect(await fault(here()(silent, controller.signal))).toContain('cannot be reached')
  })
})

test('the certificate is checked against the host name of the URL, not against the IP address', async () => {
  const { certificate, key } = selfSignedCertificate()
  const secure = https.createServer({ cert: certificate, key }, (_request, response) => {
    response.writeHead(200, { 'content-type': 'image/png' }).end(png)
  })
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve))
  const { port: securePort } = secure.address() as AddressInfo
  try {
    const resolve = async () => ['127.0.0.1']
    const read = (name: string, options: FetchMediaOptions = { ca: certificate }) =>
      here({ resolve, ...options })(`https://${name}:${securePort}/a.png`)
    expect((await read('localhost')).mediaType).toBe('image/png')
    expect(await fault(read('images.example'))).toContain('cannot be reached')
    expect(await fault(read('localhost', {}))).toContain('cannot be reached')
  } finally {
    secure.closeAllConnections()
    secure.close()
  }
})

test('the error message for the caller contains the host and no other part of the URL', async () => {
  const told = await fault(here()(at('/missing?token=secret')))
  expect(told).toContain('images.example')
  expect(told).not.toContain('secret')
})

test('types are detected from the bytes', () => {
  const bytes = (text: string) => Buffer.from(text, 'latin1')
  expect(mediaTypeOf(bytes('\xff\xd8\xff\xe0'), '')).toBe('image/jpeg')
  expect(mediaTypeOf(bytes('RIFF....WEBPVP8 '), 'image/png')).toBe('image/webp')
  expect(mediaTypeOf(bytes('%PDF-1.7'), 'application/octet-stream')).toBe('application/pdf')
  expect(mediaTypeOf(bytes('RIFF....WAVE'), 'audio/x-wav')).toBe('audio/wav')
  expect(mediaTypeOf(bytes('????'), 'image/bmp; charset=x')).toBe('image/bmp')
  expect(mediaTypeOf(bytes('%PDF-1.7'), 'text/html')).toBeUndefined()
  expect(mediaTypeOf(bytes('????'), 'application/octet-stream')).toBeUndefined()
})
