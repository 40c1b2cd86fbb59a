import { type OptionKey, optionDefinitions } from '../../contract/options.ts'
import { badParameter, badValue, type JsonText, strayNames } from './bad-values.ts'
import type { Random } from './random.ts'
import type { Field, FieldSchema, Target } from './routes.ts'

/** Existing rows that requests can name. A request can also contain a random id, which belongs to no row. */
export interface World {
  users: readonly { id: number; username: string }[]
  tokens: readonly number[]
  channels: readonly number[]
  redemptions: readonly number[]
  /** An address where nothing listens. */
  nowhere: string
}

/** A request as it is sent. */
export interface FuzzRequest {
  method: string
  /** The path with the query, as it is sent. */
  path: string
  headers: Record<string, string>
  body?: string | Uint8Array<ArrayBuffer>
}

const optionKeys = Object.keys(optionDefinitions) as OptionKey[]

/** Fields whose valid values change a balance. In fuzz runs they get only values that must be refused. */
const moneyFields = new Set(['quota', 'quota_delta', 'remain_quota', 'remain_quota_delta'])
const moneyRoutes = new Set(['user.update', 'token.update', 'redemption.topUp'])

/** A value for `moneyFields` that a server must refuse, whatever the balance. */
function refusedAmount(name: string, text: JsonText): JsonText {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return text
  }
  if (typeof value !== 'number' || !Number.isInteger(value) || Math.abs(value) > 1e15) return text
  const takesAway = name.endsWith('_delta') ? value < -1e12 : value < 0
  return takesAway ? text : '1000000000000001'
}

/** Fields without which a call has no effect, even if they are optional in its schema. */
const needed: Readonly<Record<string, readonly string[]>> = {
  'channel.create': ['name', 'key', 'models'],
  'oauth.github': ['code'],
  'oauth.wechat': ['code'],
  'oauth.wechatBind': ['code'],
  'oauth.emailBind': ['code'],
  'log.purge': ['target_timestamp'],
}

/** Builds a request that is valid except for the target's fault. */
export function buildRequest(target: Target, world: World, random: Random, number: number): FuzzRequest {
  const { route, fault } = target
  const { endpoint } = route
  const isFault = (field: Field) => field === fault
  const parts = { path: [] as Part[], query: [] as Part[], body: [] as Part[] }
  for (const field of route.fields) {
    const isMoney = moneyFields.has(field.name) && moneyRoutes.has(route.name)
    if (isFault(field)) {
      const text = field.where === 'body' ? badFieldValue(field, random) : badParameter(random)
      parts[field.where].push({ name: field.name, text: isMoney ? refusedAmount(field.name, text) : text })
      continue
    }
    if (isMoney && !field.required) continue
    const isNeeded = field.required || needed[route.name]?.includes(field.name) === true
    if (!isNeeded && random.chance(0.5)) continue
    const value = isMoney ? 1_000_000_000_000_001 : goodValue(route.name, field, world, random, number)
    if (value === undefined) continue
    parts[field.where].push({
      name: field.name,
      text: field.where === 'body' ? JSON.stringify(value) : encodeURIComponent(String(value)),
    })
  }
  const takesBody = endpoint.method === 'POST' || endpoint.method === 'PUT'
  let path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => textOf(parts.path, name))
  if (random.chance(0.2)) path = path.endsWith('/') ? path.slice(0, -1) : `${path}/`
  const query = fault === 'query' ? badQuery(parts.query, random) : joined(parts.query)
  const request: FuzzRequest = {
    method: endpoint.method,
    path: query === '' ? path : `${path}?${query}`,
    headers: {},
  }
  if (takesBody) {
    request.headers['content-type'] = 'application/json'
    request.body = `{${parts.body.map(({ name, text }) => `${JSON.stringify(name)}:${text}`).join(',')}}`
  }
  if (fault === 'body') spoilBody(request, random)
  if (fault === 'headers') spoilHeaders(request, random)
  return request
}

interface Part {
  name: string
  text: string
}

const joined = (parts: readonly Part[]) => parts.map(({ name, text }) => `${name}=${text}`).join('&')
const textOf = (parts: readonly Part[], name: string) => parts.find((part) => part.name === name)?.text || '%20'

/** A bad value, sometimes at a limit that the schema sets or one step beyond it. */
function badFieldValue({ schema }: Field, random: Random): JsonText {
  const edges = edgesOf(schema)
  return edges.length > 0 && random.chance(0.25) ? random.pick(edges) : badValue(random)
}

function edgesOf(schema: FieldSchema): JsonText[] {
  const edges: JsonText[] = []
  for (const each of [schema, ...(schema.anyOf ?? [])]) {
    if (each.minimum !== undefined) edges.push(String(each.minimum - 1))
    if (each.exclusiveMinimum !== undefined) edges.push(String(each.exclusiveMinimum))
    if (each.maximum !== undefined) edges.push(String(each.maximum + 1))
    if (each.maxLength !== undefined) edges.push(JSON.stringify('m'.repeat(each.maxLength + 1)))
    for (const choice of each.enum ?? []) edges.push(JSON.stringify(`${String(choice).toUpperCase()} `))
  }
  return edges
}

/** A value that the call accepts. */
function goodValue(route: string, field: Field, world: World, random: Random, number: number): unknown {
  const resource = route.split('.')[0]
  switch (field.name) {
    case 'id':
      return idFor(resource ?? '', world, random)
    case 'user_id':
      return random.pick(world.users).id
    case 'ids':
      return [random.pick(world.channels), random.pick(world.channels)]
    case 'username':
      if (route === 'user.manage') return random.pick(world.users).username
      return route === 'auth.login' ? 'nobody' : `f${number}`
    case 'password':
      return 'password 123'
    case 'email':
      return `f${number}@example.com`
    case 'key':
      if (resource === 'option') return random.pick(optionKeys)
      return resource === 'channel' ? `sk-fuzz-${number}` : 'a'.repeat(32)
    case 'value':
      return random.pick(['true', 'false', '1', '', '{}', world.nowhere])
    case 'action':
      return route === 'channel.batch' ? 'edit' : bySchema(field.schema, random)
    case 'base_url':
      return world.nowhere
    case 'model_mapping':
    case 'config':
      return '{}'
    case 'models':
      return 'gpt-4o,gpt-4o-mini'
    case 'subnet':
      return '10.0.0.0/8'
    case 'type':
      return resource === 'channel' ? 1 : 2
    case 'status':
      return random.pick([1, 2])
    default:
      return bySchema(field.schema, random)
  }
}

function idFor(resource: string, world: World, random: Random): number {
  switch (resource) {
    case 'user':
      return random.pick(world.users).id
    case 'token':
      return random.pick(world.tokens)
    case 'channel':
      return random.pick(world.channels)
    case 'redemption':
      return random.pick(world.redemptions)
    default:
      return 1 + random.int(50)
  }
}

/** A value that the schema allows, for fields without a rule above. Undefined if there is no such value. */
function bySchema(schema: FieldSchema, random: Random): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return random.pick(schema.enum)
  if (schema.anyOf) return bySchema(random.pick(schema.anyOf), random)
  switch (typeof schema.type === 'string' ? schema.type : schema.type?.[0]) {
    case 'string':
      return random.pick(['x', 'fuzz', '1'])
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 0, (schema.exclusiveMinimum ?? 0) + 1)
    case 'boolean':
      return random.chance(0.5)
    case 'array':
      return [bySchema(schema.items ?? {}, random)]
    case 'null':
      return null
    default:
      return undefined
  }
}

function badQuery(parts: readonly Part[], random: Random): string {
  const name = random.pick([...strayNames, ...parts.map((part) => part.name)])
  const pieces = Array.from(
    { length: random.pick([1, 2, 20]) },
    () => `${encodeURIComponent(name)}=${badParameter(random)}`,
  )
  return [joined(parts), random.pick(['', '&&&', '=', '%', '?']), ...pieces].filter((piece) => piece !== '').join('&')
}

const notUtf8 = new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0xc0, 0xaf, 0x7d])

/** Makes the whole body, or its content type, invalid. */
export function spoilBody(request: FuzzRequest, random: Random): void {
  const good = String(request.body)
  const make = random.pick<() => FuzzRequest['body']>([
    () => undefined,
    () => '',
    () => ' \r\n\t ',
    () => 'null',
    () => '[]',
    () => '"x"',
    () => '1',
    () => `[${good}]`,
    () => good.slice(0, -1),
    () => `${good}${good}`,
    () => `\ufeff${good}`,
    () => good.replace('{', `{"${random.pick(strayNames)}":${badValue(random)}${good === '{}' ? '' : ','}`),
    () => good.replaceAll('"', "'"),
    () => `a=b&${good}`,
    () => notUtf8,
    () => new Uint8Array(Buffer.from(good, 'utf16le')),
    () => badValue(random),
    () => `{"x":"${'y'.repeat(1_100_000)}"}`,
  ])
  const body = make()
  if (body === undefined) delete request.body
  else request.body = body
  const type = random.pick([
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=utf-16',
    'text/html',
    '',
  ])
  if (type === '') delete request.headers['content-type']
  else request.headers['content-type'] = type
  if (random.chance(0.1)) request.headers['content-encoding'] = random.pick(['gzip', 'br', 'x'])
}

/** Adds a nonsensical header, or uses another method. */
export function spoilHeaders(request: FuzzRequest, random: Random): void {
  const [name, value] = random.pick<readonly [string, string]>([
    ['accept-language', `zh;q=${'9'.repeat(300)}, ${'en-'.repeat(500)}`],
    ['accept-language', ';;;,=,q=,*'],
    ['accept', 'text/html, */*;q=NaN'],
    ['range', 'bytes=0-18446744073709551615'],
    ['x-http-method-override', 'DELETE'],
    ['x-original-url', '/api/option/'],
    ['x-forwarded-host', 'evil.example'],
    ['x-forwarded-proto', 'javascript'],
    ['referer', 'http://\u00e9vil.example/%zz'],
    ['origin', 'null'],
    ['if-none-match', '*'],
    ['expect', '100-continue'],
    ['content-length', '0'],
    ['long', 'h'.repeat(12_000)],
    ['authorization', 'Bearer'],
    ['authorization', `Bearer ${'t'.repeat(8_000)}`],
    ['authorization', "Bearer ' or 1=1 --"],
    ['authorization', 'Basic \u00ff\u00fe'],
    ['cookie', 'session=%00; session=%ff; =; ;;; session'],
    ['cookie', `session=${'c'.repeat(8_000)}`],
    ['cookie', 'oauth_state=%E0%A4%A; __proto__=x'],
    ['method', random.pick(['PATCH', 'HEAD', 'OPTIONS', 'DELETE', 'PUT', 'POST', 'GET'])],
  ])
  if (name !== 'method') {
    request.headers[name] = value
    return
  }
  request.method = value
  if (value === 'GET' || value === 'HEAD') delete request.body
}
