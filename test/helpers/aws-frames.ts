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
