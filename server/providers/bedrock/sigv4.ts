import { createHash, createHmac } from 'node:crypto'

/** A key pair of an AWS account, possibly temporary. */
export interface AwsKeys {
  readonly accessKey: string
  readonly secretKey: string
  readonly sessionToken?: string
}

/** The request to sign. */
export interface SignedRequest {
  readonly method: string
  readonly url: string
  readonly body: string
  readonly region: string
  readonly service: string
  readonly nowMs: number
}

const algorithm = 'AWS4-HMAC-SHA256'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** The headers that sign a request for AWS (AWS General Reference, "Signature Version 4"). */
export function signatureHeaders(request: SignedRequest, keys: AwsKeys): Record<string, string> {
  const url = new URL(request.url)
  const time = new Date(request.nowMs).toISOString().replace(/[-:]|\.\d+/g, '')
  const scope = `${time.slice(0, 8)}/${request.region}/${request.service}/aws4_request`
  const headers: [string, string][] = [
    ['host', url.host],
    ['x-amz-date', time],
    ...(keys.sessionToken ? ([['x-amz-security-token', keys.sessionToken]] as [string, string][]) : []),
  ]
  const names = headers.map(([name]) => name).join(';')
  const canonical = [
    request.method,
    canonicalPath(url.pathname),
    canonicalQuery(url.searchParams),
    ...headers.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    sha256(request.body),
  ].join('\n')
  const key = scope.split('/').reduce<string | Buffer>((sum, part) => hmac(sum, part), `AWS4${keys.secretKey}`)
  const signature = hmac(key, [algorithm, time, scope, sha256(canonical)].join('\n')).toString('hex')
  const authorization = `${algorithm} Credential=${keys.accessKey}/${scope}, SignedHeaders=${names}, Signature=${signature}`
  return { ...Object.fromEntries(headers.slice(1)), authorization }
}

/** The path for the signature. For every service except S3, an encoded path is encoded a second time. */
function canonicalPath(path: string): string {
  return path.split('/').map(encoded).join('/')
}

function canonicalQuery(query: URLSearchParams): string {
  const pairs = [...query].map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
  return pairs.sort().join('&')
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`)
}
