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
 * Reads the rest of an upstream's stream for at most `limitMs`, in two cases. First, after the last content: little but
 * the usage is left, and the usage must be charged because it includes work that the caller never saw. Second, if part
 * of an event has been sent: the rest of the event is read, because only then is its content known (an image, for
 * example). Rejects when the rest cannot be read.
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
