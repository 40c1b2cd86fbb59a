import { randomUUID } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { GatewayError } from '../errors.ts'
import { type FieldPlace, FormScanner } from './form-scanner.ts'

/** A multipart body: its fields known, its bytes in memory or, when large, in a spool file. */
export interface FormBody {
  readonly fields: ReadonlyMap<string, string>
  /** How often each name stands, files included. */
  readonly names: ReadonlyMap<string, number>
  /** With the boundary. */
  readonly contentType: string
  /** Bytes. */
  readonly length: number
  /** The body with one field set to another value; everything else byte for byte. Can be made again for a retry. */
  withField(name: string, value: string | undefined): OutgoingForm
  /** Removes the spool file. */
  dispose(): Promise<void>
}

export interface OutgoingForm {
  body: Uint8Array | (() => ReadableStream<Uint8Array>)
  length: number
}

/** Beyond this the body goes to a file: uploads must not fill the memory. */
const memoryBytes = 1024 * 1024
const readBytes = 256 * 1024

interface Source {
  length: number
  memory: Buffer | undefined
  file: string | undefined
}

/** Reads a form once, as it arrives. Throws GatewayError request_too_large, invalid_multipart. */
export async function readForm(
  body: ReadableStream<Uint8Array> | null,
  contentType: string,
  limitBytes: number,
  spoolDir: string,
): Promise<FormBody> {
  const boundary = /boundary=(?:"([^"]{1,200})"|([^\s;]{1,200}))/i.exec(contentType)
  const mark = boundary?.[1] ?? boundary?.[2]
  if (!body || mark === undefined)
    throw new GatewayError('invalid_multipart', 'the form has no boundary in its Content-Type')
  const scanner = new FormScanner(mark)
  const source = await spool(body, scanner, limitBytes, spoolDir)
  const dispose = async () => {
    if (source.file !== undefined) await rm(source.file, { force: true })
  }
  return {
    fields: scanner.fields,
    names: scanner.names,
    contentType,
    length: source.length,
    withField: (name, value) =>
      outgoing(source, value === undefined ? undefined : replacement(mark, name, value, scanner.places.get(name))),
    dispose,
  }
}

async function spool(
  body: ReadableStream<Uint8Array>,
  scanner: FormScanner,
  limitBytes: number,
  spoolDir: string,
): Promise<Source> {
  const parts: Uint8Array[] = []
  let length = 0
  let file: string | undefined
  let handle: Awaited<ReturnType<typeof open>> | undefined
  try {
    for await (const chunk of body) {
      length += chunk.length
      if (length > limitBytes)
        throw new GatewayError('request_too_large', `the request is larger than ${limitBytes} bytes`)
      scanner.push(chunk)
      if (handle) {
        await handle.write(chunk)
        continue
      }
      // The runtime may reuse the chunk's memory.
      parts.push(chunk.slice())
      if (length <= memoryBytes) continue
      await mkdir(spoolDir, { recursive: true, mode: 0o700 })
      file = join(spoolDir, `${randomUUID()}.form`)
      handle = await open(file, 'wx', 0o600)
      for (const part of parts.splice(0)) await handle.write(part)
    }
    scanner.finish()
  } catch (error) {
    if (file !== undefined) await rm(file, { force: true })
    throw error instanceof GatewayError
      ? error
      : new GatewayError('invalid_multipart', 'the request body broke off', { cause: error })
  } finally {
    await handle?.close()
  }
  return { length, memory: file === undefined ? Buffer.concat(parts) : undefined, file }
}

/** Bytes to put in place of `start`..`end`. */
interface Replacement extends FieldPlace {
  bytes: Buffer
}

function replacement(mark: string, name: string, value: string, place: FieldPlace | undefined): Replacement {
  if (place) return { ...place, bytes: Buffer.from(value) }
  const part = `--${mark}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  return { start: 0, end: 0, bytes: Buffer.from(part) }
}

function outgoing(source: Source, change: Replacement | undefined): OutgoingForm {
  const edit = change ?? { start: 0, end: 0, bytes: Buffer.alloc(0) }
  const length = source.length - (edit.end - edit.start) + edit.bytes.length
  if (source.memory) {
    const { memory } = source
    return {
      body: change ? Buffer.concat([memory.subarray(0, edit.start), edit.bytes, memory.subarray(edit.end)]) : memory,
      length,
    }
  }
  return { body: () => streamOf(readEdited(source.file ?? '', edit)), length }
}

function streamOf(parts: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await parts.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await parts.return(undefined)
    },
  })
}

async function* readEdited(file: string, edit: Replacement): AsyncGenerator<Uint8Array> {
  const handle = await open(file, 'r')
  try {
    yield* readRange(handle, 0, edit.start)
    if (edit.bytes.length > 0) yield edit.bytes
    yield* readRange(handle, edit.end, Number.POSITIVE_INFINITY)
  } finally {
    await handle.close()
  }
}

async function* readRange(
  handle: Awaited<ReturnType<typeof open>>,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array> {
  for (let at = from; at < to; ) {
    const { bytesRead, buffer } = await handle.read({
      buffer: Buffer.allocUnsafe(Math.min(readBytes, to - at)),
      position: at,
    })
    if (bytesRead === 0) return
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}
