import type { StreamMeter } from '../../dialects/neutral/dialect.ts'
import { messagesIn, type SseSplitter } from '../../lib/bytes/sse.ts'
import type { Clock } from '../../lib/clock.ts'
import type { StreamReader } from './stream-reader.ts'

/** A stream that nobody is sent any more. */
interface LateStream {
  reader: StreamReader
  splitter: SseSplitter
  meter: StreamMeter
  clock: Clock
  limitMs: number
}

/**
 * Reads what the upstream still has to say, for no longer than `limitMs`. After the last word that is little but the usage:
 * what the model did unseen is in it, and must be paid. Of an event of which a part has gone out it is the rest: what is
 * in it, an image say, is known only then. Rejects when that cannot be read.
 */
export async function readLate(stream: LateStream): Promise<void> {
  const { meter, splitter } = stream
  if (meter.finished || meter.answered)
    await readOn(stream, () => meter.finished && (meter.usage ?? meter.reported) !== undefined)
  else if (splitter.partlySent) await readOn(stream, () => !splitter.partlySent)
}

async function readOn({ reader, splitter, meter, clock, limitMs }: LateStream, isEnough: () => boolean): Promise<void> {
  const untilMs = clock.nowMs() + limitMs
  reader.hurry(limitMs)
  while (!isEnough() && clock.nowMs() < untilMs) {
    const piece = await reader.next()
    // What it says has been metered by who read it.
    if (piece.kind === 'ready') continue
    if (piece.kind !== 'chunk') return
    for (const message of splitter.push(piece.bytes).events.flatMap(messagesIn)) {
      if (meter.feed(message) === 'done') return
    }
  }
}
