import type { StreamMeter, StreamSignal } from '../../dialects/neutral/dialect.ts'
import { eventAt, messagesIn, type SseBlock, type SseEvent } from '../../lib/bytes/sse.ts'
import { isObject, tryParse } from '../../lib/json.ts'

/** What happens to a block of events on its way to the caller. */
export interface PassedOn {
  /** The text sent instead of the block's events; undefined = they are sent as they came. */
  text: string | undefined
  /** The event that ended the answer, which is not in `text`. */
  end?: { signal: 'done' | 'error' | 'garbage'; event: string }
}

/**
 * Meters the events of a block that is passed on. Drops unreadable events, and the usage if the caller did not ask for
 * it (`withholdUsage`).
 */
export function passOn(block: SseBlock, meter: StreamMeter, withholdUsage: boolean): PassedOn {
  const { text } = block
  // A block that can be skimmed is not split into events; only the rare forms are.
  const events = block.firstRest || text.includes('\r') ? block.events : undefined
  let kept: string | undefined
  for (let index = 0, at = 0; ; index++) {
    const from = events ? at : meter.skim(text, at)
    if (kept !== undefined) kept += text.slice(at, from)
    const event = events ? events[index] : from < text.length ? eventAt(text, from) : undefined
    if (!event) return { text: kept }
    at = event.to
    // An event that has been sent already can be neither skipped nor changed.
    const isGone = event.to === 0
    if (event.lines && !isGone) {
      const { text: out, end } = passOddOn(event, text.slice(event.from, event.to), meter, withholdUsage)
      kept = (kept ?? text.slice(0, event.from)) + out
      if (end) return { text: kept, end }
      continue
    }
    const signal: StreamSignal = event.data === undefined ? 'content' : meter.feed(event.data)
    if (signal === 'content' || (signal === 'usage-only' && !withholdUsage)) {
      const { instead } = meter
      if (instead !== undefined && !isGone) kept = `${kept ?? text.slice(0, event.from)}data: ${instead}\n\n`
      else if (kept !== undefined) kept += text.slice(event.from, event.to)
      continue
    }
    kept ??= text.slice(0, event.from)
    if (signal === 'usage-only' || (signal === 'skip' && !isGone)) continue
    const last = text.slice(event.from, event.to)
    return { text: kept, end: { signal: signal === 'skip' ? 'garbage' : signal, event: last } }
  }
}

/**
 * The same for an event with several lines, or with lines that have no field name: the readable parts are sent in the
 * usual form.
 */
function passOddOn(
  event: SseEvent,
  raw: string,
  meter: StreamMeter,
  withholdUsage: boolean,
): PassedOn & { text: string } {
  const ownName = /^event:[^\r\n]*/m.exec(raw)?.[0]
  let text = ''
  for (const message of messagesIn(event)) {
    const signal = meter.feed(message)
    if (signal === 'skip' || (signal === 'usage-only' && withholdUsage)) continue
    const name = ownName ?? nameIn(message)
    const data = (meter.instead ?? message).replaceAll('\n', '\ndata: ')
    const written = `${name === undefined ? '' : `${name}\n`}data: ${data}\n\n`
    if (signal === 'content' || signal === 'usage-only') text += written
    else return { text, end: { signal, event: written } }
  }
  return { text }
}

/** The `event:` line for clients that rely on it: dialects whose events have a type use that as the name. */
function nameIn(message: string): string | undefined {
  const event = tryParse(message)
  return isObject(event) && typeof event['type'] === 'string' ? `event: ${event['type']}` : undefined
}
