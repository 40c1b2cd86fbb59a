import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LogSink, SinkRow } from './log-sink.ts'

/** The size, in bytes, at which rows go to a new file. */
const largestFile = 256 * 1024 * 1024

const fileName = /^logs-(?<day>\d{4}-\d\d-\d\d)(?:-\d+)?\.jsonl$/
const newline = 10

/**
 * Appends log rows to `logs-<day>.jsonl` in a folder, as one JSON object per line. Each row is written at least once.
 * Rows that were written just before a crash may be repeated. `<day>` is the date at which the rows are written, in
 * UTC.
 */
export function createJsonLinesFolder(folder: string, nowMs: () => number): LogSink {
  return {
    send: (rows) => writing(append(folder, nowMs(), rows)),
    check: () => writing(tryOut(folder)),
    async forget(before) {
      const firstDay = new Date(before * 1000).toISOString().slice(0, 10)
      for (const name of await readdir(folder).catch(() => [])) {
        const day = fileName.exec(name)?.groups?.['day']
        if (day !== undefined && day < firstDay) await rm(join(folder, name))
      }
    },
  }
}

async function append(folder: string, nowMs: number, rows: readonly SinkRow[]): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = await open(await currentFile(folder, nowMs), 'a+', 0o600)
  try {
    const { size } = await file.stat()
    const last = Buffer.alloc(1)
    if (size > 0) await file.read(last, 0, 1, size - 1)
    // If a crash has left an incomplete line, the new rows begin on the next line.
    const start = size > 0 && last[0] !== newline ? '\n' : ''
    await file.appendFile(start + rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    await file.datasync()
  } finally {
    await file.close()
  }
}

async function tryOut(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `.test-${randomUUID()}`)
  await writeFile(path, 'Tollgate can write files here.\n', { mode: 0o600 })
  await rm(path)
}

/**
 * Replaces the error of a file operation by one whose message is a sentence without the path. The path is already part
 * of the name under which the log copy reports errors.
 */
async function writing(work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    throw new Error(`the folder cannot be written (${(error as NodeJS.ErrnoException).code ?? String(error)})`)
  }
}

async function currentFile(folder: string, nowMs: number): Promise<string> {
  const day = new Date(nowMs).toISOString().slice(0, 10)
  for (let number = 1; ; number++) {
    const path = join(folder, number === 1 ? `logs-${day}.jsonl` : `logs-${day}-${number}.jsonl`)
    const size = await stat(path).then(
      (found) => found.size,
      () => 0,
    )
    if (size < largestFile) return path
  }
}
