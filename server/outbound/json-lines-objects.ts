import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { LogSink, SinkRow } from './log-sink.ts'
import type { S3 } from './s3.ts'

/** Fewer, larger objects: stores charge for each of them. */
const collectSeconds = 60
const compress = promisify(gzip)

/**
 * Stores log rows as compressed JSON lines, an object for each call of `send`, in a folder for each day (UTC). The name of an object
 * follows from its rows, so rows that are sent again replace themselves.
 */
export function createJsonLinesObjects(s3: Pick<S3, 'put' | 'remove'>, prefix: string): LogSink {
  return {
    collectSeconds,
    async send(rows) {
      const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
      await s3.put(`${prefix}${objectName(rows, text)}`, await compress(text))
    },
    // A lifecycle rule of the bucket does this without listing everything.
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
  // Ids are given out again after an earlier backup was restored; such rows must not replace others.
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12)
  return `${folder}/${ids}-${hash}.jsonl.gz`
}
