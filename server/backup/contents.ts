import { createHash } from 'node:crypto'
import { Readable, type Transform } from 'node:stream'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import * as z from 'zod/mini'
import type { SnapshotPart, Value } from '../store/snapshot/snapshot.ts'
import { damagedBackup } from './backup-error.ts'

/** The first line of a backup's content. It contains facts about the installation that are not rows of a table. */
const factsSchema = z.object({
  migrations: z.array(z.string()),
  secret_check: z.optional(z.string()),
  secret_key: z.optional(z.string()),
})
export type BackupFacts = z.infer<typeof factsSchema>

const lineSchema = z.union([
  z.object({
    table: z.string(),
    columns: z.array(z.object({ name: z.string(), kind: z.enum(['integer', 'real', 'text', 'boolean']) })),
  }),
  z.object({ end: z.string(), rows: z.int(), next: z.int() }),
  z.object({ sha256: z.string() }),
])

/**
 * The maximum length of a line. A line contains some rows of a table. It is much longer than a megabyte only if a
 * single value is that large.
 */
const mostLineBytes = 512 * 1024 * 1024
const level = 6
/**
 * The base-2 logarithm of the largest accepted compression window. It is limited because the window is kept in memory.
 */
const windowLog = 24

/**
 * Returns the compressed content of a backup. Its lines are the facts, the tables with their rows and row counts, and a
 * checksum of all earlier lines.
 */
export function written(facts: BackupFacts, parts: AsyncIterable<SnapshotPart>): AsyncGenerator<Buffer> {
  return through(linesOf(facts, parts), createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: level } }))
}

async function* linesOf(facts: BackupFacts, parts: AsyncIterable<SnapshotPart>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  const line = (value: unknown) => {
    const bytes = Buffer.from(`${JSON.stringify(value)}\n`)
    hash.update(bytes)
    return bytes
  }
  yield line(facts)
  for await (const part of parts) {
    if (part.kind === 'rows') yield line(part.rows)
    else if (part.kind === 'table') yield line({ table: part.name, columns: part.columns })
    else yield line({ end: part.name, rows: part.rows, next: part.next })
  }
  yield Buffer.from(`${JSON.stringify({ sha256: hash.digest('hex') })}\n`)
}

/** The content of a backup. `parts` must be read to the end, because the checksum is at the end. */
export interface BackupContents {
  facts: BackupFacts
  parts: AsyncGenerator<SnapshotPart>
}

/** Reads the output of `written`. Throws BackupError if it is incomplete or was changed. */
export async function readContents(bytes: AsyncIterable<Uint8Array>): Promise<BackupContents> {
  const hash = createHash('sha256')
  const decompressed = through(bytes, createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: windowLog } }))
  const lines = linesIn(decompressed)
  const first = await lines.next()
  if (first.done) throw damagedBackup('it is empty')
  hash.update(first.value).update('\n')
  const facts = parsed(factsSchema, json(first.value))
  async function* parts(): AsyncGenerator<SnapshotPart> {
    for await (const bytesOfLine of lines) {
      const value = json(bytesOfLine)
      if (Array.isArray(value)) {
        hash.update(bytesOfLine).update('\n')
        yield { kind: 'rows', rows: rowsIn(value) }
        continue
      }
      const line = parsed(lineSchema, value)
      if ('sha256' in line) {
        if (line.sha256 !== hash.digest('hex')) throw damagedBackup('the checksum of its rows is wrong')
        if (!(await lines.next()).done) throw damagedBackup('there are lines after its end')
        return
      }
      hash.update(bytesOfLine).update('\n')
      if ('table' in line) yield { kind: 'table', name: line.table, columns: line.columns }
      else yield { kind: 'end', name: line.end, rows: line.rows, next: line.next }
    }
    throw damagedBackup('it ends too early')
  }
  return { facts, parts: parts() }
}

function json(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString())
  } catch {
    throw damagedBackup('a line of it is not JSON')
  }
}

function parsed<Schema extends z.core.$ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = z.safeParse(schema, value)
  if (!result.success) throw damagedBackup('a line of it has an unknown form')
  return result.data
}

/** Validates rows without a schema, which would be too slow for millions of values. */
function rowsIn(value: unknown[]): Value[][] {
  for (const row of value) {
    if (!Array.isArray(row)) throw damagedBackup('a row of it is not a list')
    for (const each of row)
      if (typeof each === 'object' && each !== null) throw damagedBackup('a value of it has an unknown form')
  }
  return value as Value[][]
}

/**
 * Sends bytes through a compressor or decompressor, only as fast as the caller reads the result. Errors of the source
 * are thrown unchanged. Compression errors are thrown as BackupError.
 */
async function* through(source: AsyncIterable<Uint8Array>, transform: Transform): AsyncGenerator<Buffer> {
  const input = Readable.from(source)
  let cause: unknown
  input.on('error', (error) => {
    cause = error
    transform.destroy(error)
  })
  input.pipe(transform)
  try {
    for await (const piece of transform) yield piece as Buffer
  } catch (error) {
    if (cause !== undefined) throw cause
    const { code } = error as NodeJS.ErrnoException
    if (typeof code === 'string' && /^(?:Z|ERR_)/.test(code)) throw damagedBackup(`it cannot be decompressed: ${code}`)
    throw error
  } finally {
    input.destroy()
    transform.destroy()
  }
}

async function* linesIn(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = []
  let size = 0
  for await (const chunk of bytes) {
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      yield pieces.length === 0 ? chunk.subarray(from, at) : Buffer.concat([...pieces, chunk.subarray(from, at)])
      pieces = []
      size = 0
      from = at + 1
    }
    if (from === chunk.length) continue
    pieces.push(chunk.subarray(from))
    size += chunk.length - from
    if (size > mostLineBytes) throw damagedBackup('a line of it is too long')
  }
  if (size > 0) throw damagedBackup('its last line is not complete')
}
