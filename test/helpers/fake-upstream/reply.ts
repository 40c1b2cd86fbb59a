import { Buffer } from 'node:buffer'
import type { Exchange, HeaderList } from './types.ts'

/** Sends a complete response with a content-length. */
export async function sendBody(
  exchange: Exchange,
  status: number,
  body: string | Uint8Array,
  headers: HeaderList,
): Promise<void> {
  const bytes = Buffer.from(body)
  exchange.head(status, headers, { length: bytes.length })
  if (bytes.length === 0 || (await exchange.write(bytes))) exchange.end()
}

/** Sends a complete JSON response. */
export function sendJson(exchange: Exchange, status: number, body: unknown, headers: HeaderList = []): Promise<void> {
  const all: HeaderList = [['content-type', 'application/json'], ['x-request-id', 'req_fake'], ...headers]
  return sendBody(exchange, status, JSON.stringify(body), all)
}
