import type { StreamMeter } from '../../dialects/neutral/dialect.ts'
import { messagesIn, type SseSplitter } from '../../lib/bytes/sse.ts'
import type { Clock } from '../../lib/clock.ts'
import type { StreamReader } from './stream-reader.ts'

/** A stream whose caller has disconnected. */
interface LateStream {
  reader: StreamReader
  splitter: SseSplitter
  meter: StreamMeter
  clock: Clock
  limitMs: number
}

/**
 * Reads the rest of an upstream's stream for at most `limitMs`, in two cases:
 * - The last content has arrived, and little more than the usage is missing. The usage must be charged, because it
 *   includes work that the caller never received.
 * - Part of an event has been sent. The rest of that event is read, because its content, for example an image, is known
 *   only at its end.
 *
 * Rejects if the rest cannot be read.
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
    // The reader has already metered the events of this piece.
    if (piece.kind === 'ready') continue
    if (piece.kind !== 'chunk') return
    for (const message of splitter.push(piece.bytes).events.flatMap(messagesIn)) {
      if (meter.feed(message) === 'done') return
    }
  }
}
