import { createHmac } from 'node:crypto'

/** The key pair that signs a URL. */
interface SparkKey {
  readonly apiKey: string
  readonly apiSecret: string
}

/**
 * The URL of a WebSocket with its signature, which is valid for five minutes (iFlytek docs, "General URL
 * authentication"). The date is in HTTP's format, in GMT.
 */
export function signedAddress(url: string, { apiKey, apiSecret }: SparkKey, nowMs: number): string {
  const { host, pathname } = new URL(url)
  const date = new Date(nowMs).toUTCString()
  const text = `host: ${host}\ndate: ${date}\nGET ${pathname} HTTP/1.1`
  const signature = createHmac('sha256', apiSecret).update(text).digest('base64')
  const credentials = `api_key="${apiKey}", algorithm="hmac-sha256", headers="host date request-line", signature="${signature}"`
  const authorization = Buffer.from(credentials).toString('base64')
  return `${url}?${new URLSearchParams({ authorization, date, host })}`
}
