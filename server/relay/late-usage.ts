import type { StreamMeter } from '../dialects/dialect.ts'
import type { Clock } from '../lib/clock.ts'
import type { SseSplitter } from '../lib/sse.ts'
import type { StreamReader } from './stream-reader.ts'

/** Reads what the upstream still has to say to an answer that is complete, or about to be, for no longer than `limitMs`. */
export async function readLateUsage(
  reader: StreamReader,
  splitter: SseSplitter,
  meter: StreamMeter,
  clock: Clock,
  limitMs: number,
): Promise<void> {
  const untilMs = clock.nowMs() + limitMs
  reader.hurry(limitMs)
  const isTold = () => meter.finished && (meter.usage ?? meter.reported) !== undefined
  while (!isTold() && clock.nowMs() < untilMs) {
    const piece = await reader.next()
    // What it says has been metered by who read it.
    if (piece.kind === 'ready') continue
    if (piece.kind !== 'chunk') return
    for (const { data } of splitter.push(piece.bytes).events) {
      if (data !== undefined && meter.feed(data) === 'done') return
    }
  }
}
