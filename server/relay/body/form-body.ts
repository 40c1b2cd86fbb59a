import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { MIMEType } from 'node:util'
import { GatewayError } from '../../errors.ts'
import { inTime } from '../../lib/body-time.ts'
import { type BodyLimits, tooLarge, tooSlow } from './body-limits.ts'
import { type FieldRange, FormScanner } from './form-scanner.ts'

/** A multipart body with its fields parsed. Its bytes are in memory or, if it is large, in a spool file. */
export interface FormBody {
  readonly fields: ReadonlyMap<string, string>
  /** How often each name occurs, including the names of files. */
  readonly names: ReadonlyMap<string, number>
  /**
   * The Content-Type with the boundary that was used to read the form. It contains nothing else that another parser
   * could take for a boundary.
   */
  readonly contentType: string
  /** The length in bytes. */
  readonly length: number
  /**
   * The body with one field set to another value; everything else is unchanged, byte for byte. May be called again for
   * a retry.
   */
  withField(name: string, value: string | undefined): OutgoingForm
  /** Removes the spool file. */
  dispose(): Promise<void>
}

export interface OutgoingForm {
  body: Uint8Array | (() => ReadableStream<Uint8Array>)
  length: number
}

/** A body larger than this is written to a file, so that uploads do not fill the memory. */
const memoryBytes = 1024 * 1024
const readBytes = 256 * 1024

interface Source {
  length: number
  memory: Buffer | undefined
  file: string | undefined
}

/** Reads a form once, as it arrives. Throws GatewayError request_too_large, request_timeout, invalid_multipart. */
export async function readForm(
  body: ReadableStream<Uint8Array> | null,
  contentType: string,
  limits: BodyLimits,
  spoolDir: string,
): Promise<FormBody> {
  const mark = boundaryOf(contentType)
  if (!body || mark === undefined)
    throw new GatewayError('invalid_multipart', 'the Content-Type of the form has no boundary')
  const scanner = new FormScanner(mark)
  const spooling = spool(body, scanner, limits.bytes, spoolDir)
  const source = await inTime(spooling, limits.timeMs, tooSlow).catch((error: unknown) => {
    // After the time limit, the request has failed. If the form is completed later, nobody needs its file, so the file
    // is removed.
    spooling.then(remove).catch(() => undefined)
    throw error
  })
  return {
    fields: scanner.fields,
    names: scanner.names,
    contentType: /^[\w'+-]+$/.test(mark)
      ? `multipart/form-data; boundary=${mark}`
      : `multipart/form-data; boundary="${mark}"`,
    length: source.length,
    withField: (name, value) =>
      outgoing(source, value === undefined ? undefined : replacement(mark, name, value, scanner)),
    dispose: () => remove(source),
  }
}

async function remove({ file }: Source): Promise<void> {
  if (file !== undefined) await rm(file, { force: true })
}

/** The boundary of a form (RFC 2046, 5.1.1). Undefined if there is none or if it would need escaping. */
function boundaryOf(contentType: string): string | undefined {
  let mark: string | null
  try {
    mark = new MIMEType(contentType).params.get('boundary')
  } catch {
    return undefined
  }
  return mark !== null && /^(?!.*["\\])[ -~]{0,199}[!-~]$/.test(mark) ? mark : undefined
}

/** Turns a disk error into a GatewayError, because the caller is not to blame for a full disk, for example. */
function onDisk<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    const cause = new Error(`an upload cannot be stored in the data folder: ${String(error)}`)
    throw new GatewayError('storage_unavailable', 'the upload cannot be stored right now; try again later', { cause })
  })
}

/** Writes in a loop, because a nearly full disk may accept only some of the bytes. */
async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at)).bytesWritten
}

async function openNew(file: string): Promise<FileHandle> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  return open(file, 'wx', 0o600)
}

async function spool(
  body: ReadableStream<Uint8Array>,
  scanner: FormScanner,
  mostBytes: number,
  spoolDir: string,
): Promise<Source> {
  const parts: Uint8Array[] = []
  let length = 0
  let file: string | undefined
  let handle: FileHandle | undefined
  try {
    for await (const chunk of body) {
      length += chunk.length
      if (length > mostBytes) throw tooLarge(mostBytes)
      scanner.push(chunk)
      if (handle) {
        await onDisk(writeAll(handle, chunk))
        continue
      }
      // The runtime may reuse the chunk's memory, so the chunk is copied.
      parts.push(chunk.slice())
      if (length <= memoryBytes) continue
      file = join(spoolDir, `${randomUUID()}.form`)
      handle = await onDisk(openNew(file))
      for (const part of parts.splice(0)) await onDisk(writeAll(handle, part))
    }
    scanner.finish()
  } catch (error) {
    if (file !== undefined) await rm(file, { force: true }).catch(() => undefined)
    throw error instanceof GatewayError
      ? error
      : new GatewayError('invalid_multipart', 'the request body ended early', { cause: error })
  } finally {
    await handle?.close()
  }
  return { length, memory: file === undefined ? Buffer.concat(parts) : undefined, file }
}

/** The bytes that replace the range `start`..`end`. */
interface Replacement extends FieldRange {
  bytes: Buffer
}

function replacement(mark: string, name: string, value: string, form: FormScanner): Replacement {
  const range = form.ranges.get(name)
  if (range) return { ...range, bytes: Buffer.from(value) }
  const part = `--${mark}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  return { start: form.firstDelimiter, end: form.firstDelimiter, bytes: Buffer.from(part) }
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

async function* readRange(handle: FileHandle, from: number, to: number): AsyncGenerator<Uint8Array> {
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
