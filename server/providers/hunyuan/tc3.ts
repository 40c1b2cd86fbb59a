import { createHash, createHmac } from 'node:crypto'

/** The input of the signature. */
export interface Tc3Request {
  readonly host: string
  readonly service: string
  readonly action: string
  readonly contentType: string
  readonly body: string
  readonly nowMs: number
  readonly secretId: string
  readonly secretKey: string
}

const signedHeaders = 'content-type;host;x-tc-action'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** The Authorization header of a POST to `/` (Tencent Cloud docs, "Signature v3"). */
export function tc3Authorization(request: Tc3Request): string {
  const { host, service, action, contentType, body, nowMs, secretId, secretKey } = request
  const seconds = Math.floor(nowMs / 1000)
  const date = new Date(seconds * 1000).toISOString().slice(0, 10)
  const headers = `content-type:${contentType}\nhost:${host}\nx-tc-action:${action.toLowerCase()}\n`
  const canonical = `POST\n/\n\n${headers}\n${signedHeaders}\n${sha256(body)}`
  const scope = `${date}/${service}/tc3_request`
  const text = `TC3-HMAC-SHA256\n${seconds}\n${scope}\n${sha256(canonical)}`
  const key = hmac(hmac(hmac(`TC3${secretKey}`, date), service), 'tc3_request')
  const signature = createHmac('sha256', key).update(text).digest('hex')
  return `TC3-HMAC-SHA256 Credential=${secretId}/${scope}, SignedHeaders=${signedHeaders}, Signature=${signature}`
}
