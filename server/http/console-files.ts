import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import type { AppContext } from './app-env.ts'

/** The settings that determine what the console's pages may load from other origins. */
export interface ConsoleSettings {
  ChatLink: string
  HomePageContent: string
  About: string
  Logo: string
  WeChatAccountQRCodeImageURL: string
  TurnstileCheckEnabled: boolean
}

/** The built console, ready to be served. */
export interface ConsoleFiles {
  /** Serves a request that no API has handled. Undefined if the path belongs to no page or file of the console. */
  serve(c: AppContext): Response | undefined
}

interface File {
  type: string
  etag: string
  /** True if the name contains a hash of the content. */
  hashed: boolean
  plain: Uint8Array<ArrayBuffer>
  br: Uint8Array<ArrayBuffer> | undefined
  gzip: Uint8Array<ArrayBuffer> | undefined
}

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  ico: 'image/x-icon',
  webp: 'image/webp',
  json: 'application/json',
  txt: 'text/plain; charset=utf-8',
  webmanifest: 'application/manifest+json',
}
/** Files that the build creates only for its own tests. */
const notServed = new Set(['manifest.json'])
const challengeOrigin = 'https://challenges.cloudflare.com'

const missing = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Tollgate</title>
<h1>The console is not built</h1>
<p>The gateway is running: programs call it at /v1 of this address. To have the console, run "npm run build" in the
folder of Tollgate and start the server again ("npm start" does both).</p>
</html>
`

const bytes = (file: string): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(file))
const tagOf = (content: Uint8Array) => `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`

/**
 * Reads the built console into memory, so that a page and its files always come from the same build, even if the folder
 * changes. `basePath` is the path under which clients reach the server, for example '' or '/gateway'.
 */
export function loadConsoleFiles(folder: string, basePath: string, settings: () => ConsoleSettings): ConsoleFiles {
  const files = new Map<string, File>()
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : []
  for (const entry of names) {
    const path = relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/')
    const type = types[path.slice(path.lastIndexOf('.') + 1)]
    if (!entry.isFile() || type === undefined || notServed.has(path)) continue
    files.set(`/${path}`, readFile(join(folder, path), type, path))
  }
  const index = indexPage(files, basePath)
  files.delete('/index.html')
  return {
    serve(c) {
      if (c.req.method !== 'GET' && c.req.method !== 'HEAD') return undefined
      const file = files.get(c.req.path)
      if (file) return answer(c, file, {})
      if (!isNavigation(c)) return undefined
      return answer(c, index, { 'Content-Security-Policy': policy(settings()), 'X-Frame-Options': 'DENY' })
    },
  }
}

function readFile(path: string, type: string, name: string): File {
  const plain = bytes(path)
  const compressed = (ending: string) => (existsSync(`${path}.${ending}`) ? bytes(`${path}.${ending}`) : undefined)
  return {
    type,
    etag: tagOf(plain),
    hashed: name.startsWith('assets/'),
    plain,
    br: compressed('br'),
    gzip: compressed('gz'),
  }
}

/**
 * The page that is served for every route. Its URLs are made absolute, because a route may have several path segments.
 */
function indexPage(files: ReadonlyMap<string, File>, basePath: string): File {
  const built = files.get('/index.html')
  const html = built
    ? new TextDecoder()
        .decode(built.plain)
        .replaceAll(/(src|href)="\.\//g, `$1="${basePath}/`)
        .replace('name="base-path" content="/"', `name="base-path" content="${basePath}/"`)
    : missing
  const plain = new TextEncoder().encode(html)
  return { type: types['html'] ?? '', etag: tagOf(plain), hashed: false, plain, br: undefined, gzip: undefined }
}

/**
 * True if a request opens a page of the console, because its path has no file extension and does not belong to the API.
 */
function isNavigation(c: AppContext): boolean {
  const { path } = c.req
  // This also matches several slashes at the beginning, because clients produce them if their base URL ends with a
  // slash.
  if (/^\/+(?:api|v1|v1alpha|v1beta|dashboard|assets)(?:\/|$)/.test(path)) return false
  if (/\.[a-z0-9]{1,8}$/i.test(path)) return false
  return /text\/html|\*\/\*/.test(c.req.header('accept') ?? '*/*')
}

function answer(c: AppContext, file: File, extra: Record<string, string>): Response {
  const headers: Record<string, string> = {
    'Content-Type': file.type,
    'Cache-Control': file.hashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    ETag: file.etag,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'same-origin',
    ...(file.br || file.gzip ? { Vary: 'Accept-Encoding' } : {}),
    ...extra,
  }
  const known = c.req.header('if-none-match')
  if (known?.split(/\s*,\s*/).some((tag) => tag.replace(/^W\//, '') === file.etag || tag === '*'))
    return new Response(null, { status: 304, headers })
  const [body, encoding] = encoded(file, c.req.header('accept-encoding') ?? '')
  if (encoding !== undefined) headers['Content-Encoding'] = encoding
  headers['Content-Length'] = String(body.byteLength)
  return new Response(c.req.method === 'HEAD' ? null : body, { headers })
}

function encoded(file: File, accepted: string): [Uint8Array<ArrayBuffer>, string | undefined] {
  const takes = (name: string) =>
    accepted.split(',').some((part) => {
      const [coding, ...rest] = part.trim().toLowerCase().split(';')
      return coding?.trim() === name && !rest.some((each) => /^\s*q=0(?:\.0*)?$/.test(each))
    })
  if (file.br && takes('br')) return [file.br, 'br']
  if (file.gzip && takes('gzip')) return [file.gzip, 'gzip']
  return [file.plain, undefined]
}

function originOf(address: string): string[] {
  const trimmed = address.trim()
  if (!/^https?:\/\//.test(trimmed) || !URL.canParse(trimmed)) return []
  const { origin } = new URL(trimmed)
  // The host is checked because it may contain characters that would end a source or a directive of the policy.
  return /^https?:\/\/[\w.:[\]-]+$/.test(origin) ? [origin] : []
}

/**
 * The content security policy. A page may load content from its own origin, from the origins in the settings and, if
 * the bot check is on, from the bot check's origin. Inline scripts are not allowed.
 */
function policy(settings: ConsoleSettings): string {
  const challenge = settings.TurnstileCheckEnabled ? [challengeOrigin] : []
  const frames = [settings.ChatLink, settings.HomePageContent, settings.About].flatMap(originOf)
  const images = [settings.Logo, settings.WeChatAccountQRCodeImageURL].flatMap(originOf)
  const list = (name: string, sources: readonly string[]) => `${name} ${[...new Set(sources)].join(' ')}`
  return [
    "default-src 'none'",
    list('script-src', ["'self'", ...challenge]),
    "style-src 'self'",
    // Images may come from any HTTPS origin, because Markdown in the options can contain images.
    list('img-src', ["'self'", 'data:', 'blob:', 'https:', ...images]),
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    list('frame-src', frames.length + challenge.length > 0 ? [...challenge, ...frames] : ["'none'"]),
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
