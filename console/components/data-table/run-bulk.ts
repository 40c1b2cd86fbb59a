import { text } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'

/** Number of calls that run at the same time. */
const pool = 4

/** The outcome for each row. */
export interface BulkResult<Row> {
  ok: Row[]
  failed: { row: Row; message: string }[]
  stopped: boolean
}

/** Runs an action on each row, four at a time, with a toast that shows the progress and can stop the action. */
export async function runBulk<Row>(
  action: string,
  rows: readonly Row[],
  work: (row: Row) => Promise<unknown>,
): Promise<BulkResult<Row>> {
  const result: BulkResult<Row> = { ok: [], failed: [], stopped: false }
  const waiting = [...rows]
  const id = `bulk-${action}`
  const total = rows.length
  const tell = () => {
    const done = result.ok.length + result.failed.length
    toast.info(text('table.bulk.progress', { action, done, total }), {
      id,
      durationMs: 0,
      action: {
        label: text('do.stop'),
        run: () => {
          result.stopped = true
        },
      },
    })
  }
  const worker = async () => {
    for (let row = waiting.shift(); row !== undefined && !result.stopped; row = waiting.shift()) {
      try {
        await work(row)
        result.ok.push(row)
      } catch (error) {
        result.failed.push({ row, message: error instanceof Error ? error.message : String(error) })
      }
      tell()
    }
  }
  tell()
  await Promise.all(Array.from({ length: Math.min(pool, total) }, worker))
  toast.close(id)
  summarise(action, total, result)
  return result
}

function summarise<Row>(action: string, total: number, { ok, failed, stopped }: BulkResult<Row>): void {
  const done = ok.length + failed.length
  if (stopped && done < total) {
    toast.info(text('table.bulk.stopped', { action, done, total }))
    return
  }
  const summary = text('table.bulk.done', { action, ok: ok.length, failed: failed.length })
  if (failed.length === 0) toast.success(summary)
  else toast.warning(summary, { detail: [...new Set(failed.map(({ message }) => message))].join(' · ') })
}
