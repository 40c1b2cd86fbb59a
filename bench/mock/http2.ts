import type { Socket } from 'bun'
import { EVENTS, PLAIN, wanted } from './payloads.ts'

const PREFACE_LENGTH = 24
const EMPTY: Buffer = Buffer.alloc(0)
const WINDOW = 0x3fff_ffff
/** `:status 200` (static index 8) and a literal content-type (name at static index 31). */
const JSON_HEAD = headers('application/json')
const STREAM_HEAD = headers('text/event-stream')
const PLAIN_FRAMES = join([frame(1, 4, JSON_HEAD), frame(0, 1, Buffer.from(PLAIN))])
const STREAM_FRAMES = [0, 1, 2, 3].map((group) => {
  const events = EVENTS.slice(group * 8, group * 8 + 8).map((event) =>
    frame(0, event.includes('[DONE]') ? 1 : 0, Buffer.from(event)),
  )
  return join(group === 0 ? [frame(1, 4, STREAM_HEAD), ...events] : events)
})
const GREETING = Buffer.concat([
  frame(4, 0, Buffer.from([0, 3, 0, 0, 4, 0, 0, 4, 0x3f, 0xff, 0xff, 0xff])),
  frame(8, 0, Buffer.from([0x3f, 0, 0, 0])),
])

interface Template {
  readonly bytes: Buffer
  /** Positions of the stream ids. */
  readonly ids: readonly number[]
  readonly dataLength: number
}

interface Open {
  start: string
}

/**
 * One HTTP/2 connection with canned responses. Request headers are not decoded: the body contains everything needed,
 * and the mock's own responses do not use the dynamic table, so HPACK can be skipped. Serves only the plain response
 * and the burst stream.
 */
export class MockHttp2 {
  readonly #socket: Socket<unknown>
  readonly #streams = new Map<number, Open>()
  #pending: Buffer = Buffer.alloc(0)
  #greeted = false
  #sendWindow = 65_535
  #received = 0
  #waiting: { id: number; templates: readonly Template[] }[] = []
  #unsent: Buffer[] = []

  constructor(socket: Socket<unknown>) {
    this.#socket = socket
    this.#write(GREETING)
  }

  receive(bytes: Buffer): void {
    const data = this.#pending.length > 0 ? Buffer.concat([this.#pending, bytes]) : bytes
    let at = 0
    if (!this.#greeted && data.length >= PREFACE_LENGTH) {
      this.#greeted = true
      at = PREFACE_LENGTH
    }
    while (this.#greeted && data.length - at >= 9) {
      const length = data.readUIntBE(at, 3)
      if (data.length - at < 9 + length) break
      this.#frame(
        data[at + 3] ?? 0,
        data[at + 4] ?? 0,
        data.readUInt32BE(at + 5),
        data.subarray(at + 9, at + 9 + length),
      )
      at += 9 + length
    }
    this.#pending = at === data.length ? EMPTY : Buffer.from(data.subarray(at))
    if (this.#received > 1_000_000) {
      const update = frame(8, 0, Buffer.alloc(4))
      update.writeUInt32BE(this.#received, 9)
      this.#received = 0
      this.#write(update)
    }
  }

  drain(): void {
    const rest = this.#unsent
    this.#unsent = []
    for (const bytes of rest) this.#write(bytes)
  }

  close(): void {
    this.#streams.clear()
  }

  #frame(type: number, flags: number, id: number, payload: Buffer): void {
    if (type === 0) this.#data(id, flags, payload)
    else if (type === 1) this.#streams.set(id, { start: '' })
    else if (type === 3) this.#streams.delete(id)
    else if (type === 4 && !(flags & 1)) this.#write(frame(4, 1, EMPTY))
    else if (type === 6 && !(flags & 1)) this.#write(frame(6, 1, Buffer.from(payload)))
    else if (type === 8 && id === 0) {
      this.#sendWindow = Math.min(WINDOW, this.#sendWindow + payload.readUInt32BE(0))
      for (const { id: stream, templates } of this.#waiting.splice(0)) this.#send(stream, templates)
    }
  }

  #data(id: number, flags: number, payload: Buffer): void {
    this.#received += payload.length
    const open = this.#streams.get(id)
    if (!open) return
    if (open.start.length < 2048) open.start += payload.toString('latin1', 0, 2048)
    if (!(flags & 1)) return
    this.#streams.delete(id)
    this.#send(id, wanted(open.start) === 'plain' ? [PLAIN_FRAMES] : STREAM_FRAMES)
  }

  #send(id: number, templates: readonly Template[]): void {
    const size = templates.reduce((sum, { dataLength }) => sum + dataLength, 0)
    if (size > this.#sendWindow) {
      this.#waiting.push({ id, templates })
      return
    }
    this.#sendWindow -= size
    for (const { bytes, ids } of templates) {
      for (const at of ids) bytes.writeUInt32BE(id, at)
      this.#write(bytes)
    }
  }

  #write(bytes: Buffer): void {
    if (this.#unsent.length > 0) {
      this.#unsent.push(Buffer.from(bytes))
      return
    }
    const written = this.#socket.write(bytes)
    if (written >= 0 && written < bytes.length) this.#unsent.push(Buffer.from(bytes.subarray(written)))
  }
}

function frame(type: number, flags: number, payload: Buffer): Buffer {
  const bytes = Buffer.alloc(9 + payload.length)
  bytes.writeUIntBE(payload.length, 0, 3)
  bytes[3] = type
  bytes[4] = flags
  payload.copy(bytes, 9)
  return bytes
}

function headers(contentType: string): Buffer {
  return Buffer.concat([Buffer.from([0x88, 0x0f, 16, contentType.length]), Buffer.from(contentType)])
}

function join(frames: readonly Buffer[]): Template {
  const ids: number[] = []
  let at = 0
  let dataLength = 0
  for (const one of frames) {
    ids.push(at + 5)
    at += one.length
    if (one[3] === 0) dataLength += one.length - 9
  }
  return { bytes: Buffer.concat(frames), ids, dataLength }
}
