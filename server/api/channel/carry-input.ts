import { isSecretHeader, type ParameterOperation, type WrittenCarries } from '../../../contract/api/channel-carries.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { isObject, tryStringify } from '../../lib/json.ts'
import { isMetadataHost } from '../../lib/network/metadata-address.ts'
import type { CarryColumns } from '../../store/schema/carry-columns.ts'

/**
 * The columns for what a channel adds to its requests: headers, parameters, proxy and so on. Secret columns are not
 * encrypted yet.
 */
export type CarryFields = Partial<Record<Exclude<keyof CarryColumns, 'costs'>, string>>

/**
 * Headers that belong to the connection or to the gateway, or that contain the key. A channel may not set them, because
 * its values could contradict the key and the body that the gateway sends.
 */
const ownHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'proxy-authenticate',
  'proxy-connection',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'cookie',
  'cookie2',
  'set-cookie',
  'host',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'content-length',
  'content-type',
  'content-encoding',
  'accept-encoding',
  'x-tollgate-via',
])
/** Prefixes of headers for signatures of the request and for the handshake of a WebSocket. */
const ownPrefixes = ['x-amz-', 'sec-', ':']

/**
 * Parameters that determine the kind of call, and therefore its price or its response. The gateway sets them itself.
 */
const ownParameters: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'streamoptions',
  'messages',
  'input',
  'prompt',
  'contents',
  'system',
  'systeminstruction',
  'instructions',
  'tools',
  'functions',
  'websearchoptions',
  'searchparameters',
  'enablesearch',
  'plugins',
  'n',
  'bestof',
  'candidatecount',
  'batchsize',
  'numimages',
  'numoutputs',
  'numberofimages',
  'samples',
  'sequentialimagegeneration',
  'sequentialimagegenerationoptions',
  'size',
  'quality',
  'servicetier',
  'inferencegeo',
  'background',
  'previousresponseid',
  'conversation',
])
/** Parameters that limit the response. The held quota depends on them, so a channel may only lower them. */
const limits: ReadonlySet<string> = new Set([
  'maxtokens',
  'maxcompletiontokens',
  'maxoutputtokens',
  'maxnewtokens',
  'maxtokenstosample',
  'maxgenlen',
  'numpredict',
  'budgettokens',
  'thinkingbudget',
])

/**
 * Validates the fields of a request body and converts them to column values. `stored` contains the channel's current
 * headers.
 */
export function carryFields(body: WrittenCarries, stored: Readonly<Record<string, string>>): CarryFields {
  const fields: CarryFields = {}
  if (body.tags !== undefined) fields.tags = tagsText(body.tags)
  if (body.remark !== undefined) fields.remark = body.remark
  if (body.test_model !== undefined) fields.test_model = body.test_model
  for (const name of ['organization', 'project'] as const) {
    const value = body[name]
    if (value === undefined) continue
    refuseUnsendable(name, value)
    fields[name] = value
  }
  if (body.headers !== undefined) fields.headers = headersText(body.headers, stored)
  if (body.parameters !== undefined) fields.parameters = parametersText(body.parameters)
  if (body.status_map !== undefined) fields.status_map = statusesText(body.status_map)
  if (body.proxy !== undefined) fields.proxy = parseProxy(body.proxy)
  if (body.proxy_login) fields.proxy_login = parseLogin(body.proxy_login)
  // If the proxy is removed, its login is removed, too.
  if (fields.proxy === '') fields.proxy_login = ''
  return fields
}

function tagsText(tags: readonly string[]): string {
  const named = tags.filter((tag) => tag !== '')
  if (named.some((tag) => tag.includes(','))) throw new ApiFailure('A tag must not contain a comma.')
  return [...new Set(named)].join(',')
}

function headersText(headers: Readonly<Record<string, string>>, stored: Readonly<Record<string, string>>): string {
  const kept: Record<string, string> = {}
  for (const [given, sent] of Object.entries(headers)) {
    const name = given.trim().toLowerCase()
    if (!/^[\w!#$%&'*+.^`|~-]{1,100}$/.test(name)) throw new ApiFailure(`${shown(given)} is not the name of a header.`)
    if (isOwnHeader(name)) throw new ApiFailure(`A channel may not set the header ${name}.`)
    if (Object.hasOwn(kept, name)) throw new ApiFailure(`The header ${name} is set twice.`)
    const old = Object.hasOwn(stored, name) ? stored[name] : undefined
    const value = sent.trim() === '' && isSecretHeader(name) ? old : sent.trim()
    if (value === undefined || value === '') throw new ApiFailure(`Enter the value of the header ${name}.`)
    refuseUnsendable(name, value)
    kept[name] = value
  }
  return Object.keys(kept).length === 0 ? '' : JSON.stringify(kept)
}

function isOwnHeader(name: string): boolean {
  return ownHeaders.has(name) || ownPrefixes.some((prefix) => name.startsWith(prefix))
}

function refuseUnsendable(name: string, value: string): void {
  if (!/^[\x20-\x7e]*$/.test(value))
    throw new ApiFailure(`The value of ${name} may contain only printable ASCII characters.`)
}

/** A name as a message repeats it: quoted and truncated. */
const shown = (name: string) => JSON.stringify(name.slice(0, 100))

function parametersText(operations: readonly ParameterOperation[]): string {
  for (const operation of operations) refuseParameter(operation)
  return operations.length === 0 ? '' : JSON.stringify(operations)
}

function refuseParameter({ op, path, value }: ParameterOperation): void {
  const names = path.split('.')
  if (names.length > 5 || !names.every((name) => /^[A-Za-z][\w-]{0,60}$/.test(name) && !isInherited(name)))
    throw new ApiFailure(`${shown(path)} must be the name of a parameter, or up to five names joined with dots.`)
  if (ownParameters.has(plain(names[0] ?? '')) || names.some((name) => plain(name) === 'candidatecount'))
    throw new ApiFailure(`A channel may not change the parameter ${path}.`)
  if (op === 'drop') return
  if (value === undefined) throw new ApiFailure(`Enter the value of the parameter ${path}.`)
  if (op === 'cap') {
    if (typeof value !== 'number' || value < 0) throw new ApiFailure(`The cap of ${path} must be a number, at least 0.`)
    return
  }
  if (limits.has(plain(names.at(-1) ?? '')) || holdsLimit(value))
    throw new ApiFailure(`A channel may only cap ${path}, because the held quota depends on it.`)
  if ((tryStringify(value)?.length ?? Number.POSITIVE_INFINITY) > 4000)
    throw new ApiFailure(`The value of the parameter ${path} is too long.`)
}

/** Whether a name is a property that every JavaScript object has. */
const isInherited = (name: string) => name in {}
const plain = (name: string) => name.replaceAll(/[_-]/g, '').toLowerCase()

function holdsLimit(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsLimit)
  if (!isObject(value)) return false
  return Object.entries(value).some(([name, inner]) => {
    const word = plain(name)
    return limits.has(word) || word === 'candidatecount' || name === '__proto__' || holdsLimit(inner)
  })
}

function statusesText(statuses: Readonly<Record<string, number>>): string {
  const isError = (status: number) => Number.isInteger(status) && status >= 400 && status <= 599
  for (const [from, to] of Object.entries(statuses)) {
    if (!/^\d{3}$/.test(from) || !isError(Number(from)) || !isError(to))
      throw new ApiFailure('The statuses in status_map must be from 400 to 599.')
  }
  return Object.keys(statuses).length === 0 ? '' : JSON.stringify(statuses)
}

function parseProxy(text: string): string {
  if (text === '') return ''
  if (/^socks/i.test(text)) throw new ApiFailure('SOCKS proxies are not supported. Use an HTTP or HTTPS proxy.')
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '')
    throw new ApiFailure('proxy must be a URL that begins with http:// or https://.')
  if (url.username !== '' || url.password !== '')
    throw new ApiFailure('Enter the name and password of the proxy in proxy_login, not in its URL.')
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw new ApiFailure('proxy must consist of a host and a port, without a path.')
  if (isMetadataHost(url.hostname)) throw new ApiFailure('proxy must not be a cloud metadata service.')
  return url.origin
}

function parseLogin(login: string): string {
  if (!/^[^:\s]+:.*$/.test(login) || !/^[\x20-\x7e]*$/.test(login))
    throw new ApiFailure('proxy_login must have the form name:password.')
  return login
}
