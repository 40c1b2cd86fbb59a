import { Buffer } from 'node:buffer'
import type { RecordedRequest } from './recorded-request.ts'

/** One part of a multipart/form-data body. */
export interface Part {
  readonly name: string
  readonly filename: string | undefined
  readonly contentType: string | undefined
  readonly bytes: Uint8Array
  readonly text: string
}

/** The parts of a recorded multipart request, byte for byte. Empty if the request is not multipart. */
export function readMultipart(request: RecordedRequest): Part[] {
  const boundary = /boundary="?([^";]+)"?/i.exec(request.headers.get('content-type') ?? '')?.[1]
  if (boundary === undefined) return []
  const body = Buffer.from(request.body)
  const mark = Buffer.from(`--${boundary}`)
  const parts: Part[] = []
  let at = body.indexOf(mark)
  while (at >= 0) {
    const next = body.indexOf(mark, at + mark.length)
    if (next < 0) break
    parts.push(readPart(body.subarray(at + mark.length + 2, next - 2)))
    at = next
  }
  return parts
}

function readPart(section: Buffer): Part {
  const blank = section.indexOf('\r\n\r\n')
  const head = section.subarray(0, blank).toString('utf8')
  const bytes = section.subarray(blank + 4)
  return {
    name: /name="([^"]*)"/i.exec(head)?.[1] ?? '',
    filename: /filename="([^"]*)"/i.exec(head)?.[1],
    contentType: /content-type:\s*([^\r\n]+)/i.exec(head)?.[1],
    bytes,
    text: bytes.toString('utf8'),
  }
}
