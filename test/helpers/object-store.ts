import { createHash, createHmac } from 'node:crypto'

/** A small S3-compatible store: objects by path, with every signature checked (AWS, "Signature Version 4"). */
export interface ObjectStore extends AsyncDisposable {
  url: string
  objects: Map<string, Uint8Array>
  /** Why requests were refused. */
  refusals: string[]
  /** Responses for the next requests, one for each. The store does not handle these requests itself. */
  instead: Response[]
  /** The number of next uploads that are stored but get an error response. */
  lostAnswers: number
}

export const storeKey = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }

export function startObjectStore(bucket: string): ObjectStore {
  const objects = new Map<string, Uint8Array>()
  const refusals: string[] = []
  const instead: Response[] = []
  const refuse = (status: number, code: string) => {
    refusals.push(code)
    return new Response(`<Error><Code>${code}</Code></Error>`, { status })
  }
  const uploads = new Map<string, Map<number, Uint8Array>>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const other = instead.shift()
      if (other) return other
      const body = new Uint8Array(await request.arrayBuffer())
      if (!isSigned(request, body)) return refuse(403, 'SignatureDoesNotMatch')
      const { pathname, searchParams } = new URL(request.url)
      if (!pathname.startsWith(`/${bucket}/`)) return refuse(404, 'NoSuchBucket')
      const upload = multipart(uploads, request.method, searchParams, body)
      if (upload instanceof Response) return upload
      if (upload) {
        objects.set(pathname, upload)
        return new Response('<CompleteMultipartUploadResult/>')
      }
      if (request.method === 'PUT') {
        objects.set(pathname, body)
        if (store.lostAnswers-- > 0) return new Response(null, { status: 500 })
      }
      if (request.method === 'DELETE') objects.delete(pathname)
      if (request.method !== 'GET') return new Response(null, { status: request.method === 'PUT' ? 200 : 204 })
      const found = objects.get(pathname)
      return found ? new Response(found as Uint8Array<ArrayBuffer>) : refuse(404, 'NoSuchKey')
    },
  })
  const store: ObjectStore = {
    url: `http://127.0.0.1:${server.port}`,
    objects,
    refusals,
    instead,
    lostAnswers: 0,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
  return store
}

/** Serves the calls of a multipart upload. Returns the object when it is complete; undefined for other calls. */
function multipart(
  uploads: Map<string, Map<number, Uint8Array>>,
  method: string,
  query: URLSearchParams,
  body: Uint8Array,
): Response | Buffer | undefined {
  if (query.has('uploads')) {
    const id = `upload+${uploads.size}/=`
    uploads.set(id, new Map())
    return new Response(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`)
  }
  const id = query.get('uploadId')
  if (id === null) return undefined
  const parts = uploads.get(id)
  if (!parts) return new Response('<Error><Code>NoSuchUpload</Code></Error>', { status: 404 })
  const number = Number(query.get('partNumber'))
  if (method === 'PUT') {
    parts.set(number, body)
    return new Response(null, { headers: { etag: `"${hash(body).slice(0, 32)}"` } })
  }
  uploads.delete(id)
  if (method === 'DELETE') return new Response(null, { status: 204 })
  const tags = [
    ...Buffer.from(body)
      .toString()
      .matchAll(/&quot;(\w+)&quot;/g),
  ].map(([, tag]) => tag)
  const whole = [...parts].toSorted(([a], [b]) => a - b).map(([, part]) => part)
  if (whole.some((part, at) => hash(part).slice(0, 32) !== tags[at]))
    return new Response('<Error><Code>InvalidPart</Code></Error>')
  return Buffer.concat(whole)
}

const hash = (value: string | Uint8Array) => createHash('sha256').update(value).digest('hex')
const mac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

function isSigned(request: Request, body: Uint8Array): boolean {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)$/
  const [, id, day = '', region = '', names = '', signature] =
    pattern.exec(request.headers.get('authorization') ?? '') ?? []
  if (id !== storeKey.id || request.headers.get('x-amz-content-sha256') !== hash(body)) return false
  const { pathname, searchParams } = new URL(request.url)
  const query = [...searchParams]
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .toSorted()
    .join('&')
  const headers = names.split(';').map((name) => `${name}:${request.headers.get(name)}\n`)
  const canonical = [request.method, pathname, query, headers.join(''), names, hash(body)].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', request.headers.get('x-amz-date'), scope, hash(canonical)].join('\n')
  const key = [region, 's3', 'aws4_request'].reduce(mac, mac(`AWS4${storeKey.secret}`, day))
  return signature === createHmac('sha256', key).update(text).digest('hex')
}
