import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { LogSink, SinkRow } from './log-sink.ts'
import type { S3 } from './s3.ts'

/** Rows are collected into fewer, larger objects, because object stores charge for each request. */
const collectSeconds = 60
const compress = promisify(gzip)

/**
 * Stores log rows as compressed JSON lines. Each call of `send` creates one object. The object is in a folder named
 * after the day (UTC) of its first row. The name of an object is derived from its rows, so if the same rows are sent
 * again, they replace the same object.
 */
export function createJsonLinesObjects(s3: Pick<S3, 'put' | 'remove'>, prefix: string): LogSink {
  return {
    collectSeconds,
    async send(rows) {
      const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
      await s3.put(`${prefix}${objectName(rows, text)}`, await compress(text))
    },
    // Deletes nothing. A lifecycle rule of the bucket can delete old objects without listing all objects.
    forget: async () => undefined,
    async check() {
      const name = `${prefix}test.txt`
      await s3.put(name, Buffer.from('Tollgate can store objects here.\n'))
      await s3.remove(name)
    },
  }
}

function objectName(rows: readonly SinkRow[], text: string): string {
  const [first] = rows
  const day = new Date((first?.created_at ?? 0) * 1000)
  const folder = Number.isNaN(day.getTime()) ? 'undated' : day.toISOString().slice(0, 10)
  const ids = [first, rows.at(-1)].map((row) => String(row?.id).padStart(12, '0')).join('-')
  // After an old backup has been restored, ids are assigned a second time. The hash prevents new rows from replacing
  // old rows with the same ids.
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12)
  return `${folder}/${ids}-${hash}.jsonl.gz`
}
