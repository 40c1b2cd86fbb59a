import { crc32 } from 'node:zlib'

/** One message of AWS's event stream, as the service would write it. */
export function awsFrame(headers: Readonly<Record<string, string>>, payload: string): Uint8Array {
  const head = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(Buffer.byteLength(value))
      return Buffer.concat([
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7]),
        length,
        Buffer.from(value),
      ])
    }),
  )
  const body = Buffer.from(payload)
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(16 + head.length + body.length, 0)
  prelude.writeUInt32BE(head.length, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const whole = Buffer.concat([prelude, head, body])
  const end = Buffer.alloc(4)
  end.writeUInt32BE(crc32(whole))
  return Buffer.concat([whole, end])
}

/** An event of ConverseStream. */
export function converseFrame(event: string, payload: object): Uint8Array {
  return awsFrame(
    { ':event-type': event, ':content-type': 'application/json', ':message-type': 'event' },
    JSON.stringify(payload),
  )
}

/** The events of an event stream with their payloads. Checksums are not verified. */
export function readFrames(bytes: Uint8Array): { event: string; payload: Record<string, unknown> }[] {
  const all = Buffer.from(bytes)
  const out: { event: string; payload: Record<string, unknown> }[] = []
  for (let at = 0; at < all.length; at += all.readUInt32BE(at)) {
    const length = all.readUInt32BE(at)
    const bodyAt = at + 12 + all.readUInt32BE(at + 4)
    const head = all.subarray(at + 12, bodyAt).toString('latin1')
    // The name is followed by the value's type (one byte) and its length (two bytes).
    const [, event = ''] = /:event-type[\s\S]{3}([A-Za-z]+)/.exec(head) ?? []
    const text = all.subarray(bodyAt, at + length - 4).toString()
    out.push({ event, payload: JSON.parse(text) as Record<string, unknown> })
  }
  return out
}
