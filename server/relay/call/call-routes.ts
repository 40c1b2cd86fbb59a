import {
  type CallerDialect,
  type DialectPath,
  dialectPaths,
  type RelayPath,
  relayPaths,
} from '../../../contract/relay-paths.ts'

/** A relayed POST: its kind, its caller's dialect, and what its URL specifies. */
export interface CallRoute extends RelayPath {
  dialect: CallerDialect
  countOnly?: true
  compacts?: true
  stream?: boolean
  embeds?: 'one' | 'batch'
  /** The model named in the URL. */
  model?: string
  /** The channel named in the URL, for channel types that proxy calls to any service. */
  proxyChannel?: number
  /** The response's events are written as one JSON array, as Google does without `alt=sse`. */
  asArray?: true
}

const byPath = new Map<string, CallRoute>([
  ...relayPaths.map((each): [string, CallRoute] => [each.path, { ...each, dialect: 'openai-chat' }]),
  ...dialectPaths.filter(({ path }) => !path.includes('{')).map((each): [string, CallRoute] => [each.path, each]),
])

/** Google's method names follow a colon in the path. */
const methods = new Map<string, DialectPath>(
  dialectPaths
    .filter(({ path }) => path.includes('{'))
    .map((each) => [each.path.slice(each.path.indexOf('}:') + 2), each]),
)
const modelAddress = /^\/v1(?:alpha|beta)?\/models\/(.+):([A-Za-z]+)\/?$/

const proxyPath = '/v1/oneapi/proxy/'

/**
 * The relayed call for a POST to an absolute URL. Undefined if the URL belongs to no such call. A trailing slash is
 * accepted.
 */
export function callRouteOf(url: string): CallRoute | undefined {
  const from = url.indexOf('/', url.indexOf('://') + 3)
  if (url.startsWith(proxyPath, from)) return proxyRouteOf(url, from)
  const query = url.indexOf('?', from)
  const pathname = query < 0 ? url.slice(from) : url.slice(from, query)
  const known = byPath.get(pathname.endsWith('/') ? pathname.slice(0, -1) : pathname)
  if (known || !pathname.includes('/models/')) return known
  const [, model = '', name = ''] = modelAddress.exec(pathname) ?? []
  const method = methods.get(name)
  if (!method) return undefined
  return {
    ...method,
    model: decoded(model),
    stream: method.stream === true,
    ...(method.stream && !/[?&]alt=sse\b/.test(url.slice(query < 0 ? url.length : query)) && { asArray: true }),
  }
}

/** A call whose path is prefixed with a channel number: `/v1/oneapi/proxy/7/v1/chat/completions`. */
function proxyRouteOf(url: string, from: number): CallRoute | undefined {
  const [, id, rest] = /^(\d{1,15})(\/.*)$/.exec(url.slice(from + proxyPath.length)) ?? []
  const route = rest === undefined ? undefined : callRouteOf(url.slice(0, from) + rest)
  return route && !route.proxyChannel ? { ...route, proxyChannel: Number(id) } : undefined
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
