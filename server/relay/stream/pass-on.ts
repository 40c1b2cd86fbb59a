import type { StreamMeter, StreamSignal } from '../../dialects/neutral/dialect.ts'
import { eventAt, messagesIn, type SseBlock, type SseEvent } from '../../lib/bytes/sse.ts'
import { isObject, tryParse } from '../../lib/json.ts'

/** The result of metering a block of events that is passed on to the caller. */
export interface PassedOn {
  /** The part of the block that is sent; undefined if nothing is sent. */
  bytes: Uint8Array | undefined
  /** The event that ended the response, which is not in `bytes`. */
  end?: End
}

interface End {
  signal: 'done' | 'error' | 'garbage'
  event: string
  bytes: Uint8Array
}

const encoder = new TextEncoder()

/**
 * Meters the events of a block that is passed on. Drops unreadable events, and the usage if the caller did not ask for
 * it (`withholdUsage`).
 */
export function passOn(block: SseBlock, meter: StreamMeter, withholdUsage: boolean): PassedOn {
  const { text } = block
  // Most blocks can be scanned without being split into events. Only blocks in rarer formats are split.
  const events = block.firstRest || text.includes('\r') ? block.events : undefined
  /** The text is sent unchanged up to this index; undefined = the whole text is sent unchanged. */
  let cut: number | undefined
  /** The text that is sent after the part up to `cut`. */
  let rest = ''
  for (let index = 0, at = 0; ; index++) {
    const from = events ? at : meter.skim(text, at)
    if (cut !== undefined) rest += text.slice(at, from)
    const event = events ? events[index] : from < text.length ? eventAt(text, from) : undefined
    if (!event) return { bytes: bytesOf(block, cut, rest) }
    at = event.to
    // True for an event that has already been sent. It can no longer be dropped or changed.
    const isGone = event.to === 0
    if (event.lines && !isGone) {
      cut ??= event.from
      const { text: out, end } = passOddOn(event, text.slice(event.from, event.to), meter, withholdUsage)
      rest += out
      if (end) return { bytes: bytesOf(block, cut, rest), end }
      continue
    }
    const signal: StreamSignal = event.data === undefined ? 'content' : meter.feed(event.data)
    if (signal === 'content' || (signal === 'usage-only' && !withholdUsage)) {
      const { instead } = meter
      if (instead !== undefined && !isGone) {
        cut ??= event.from
        rest += `data: ${instead}\n\n`
      } else if (cut !== undefined) rest += text.slice(event.from, event.to)
      continue
    }
    cut ??= event.from
    if (signal === 'usage-only' || (signal === 'skip' && !isGone)) continue
    return {
      bytes: bytesOf(block, cut, rest),
      end: endOf(block, event, signal === 'skip' ? 'garbage' : signal),
    }
  }
}

/** The bytes of the block's text up to `cut`, and then `rest`. */
function bytesOf(block: SseBlock, cut: number | undefined, rest: string): Uint8Array | undefined {
  if (cut === undefined) return block.bytes
  const before = asciiAt(block)
  if (rest === '' && before !== undefined) return block.bytes?.subarray(0, before + cut)
  return joined(block.firstRest, encoder.encode(block.text.slice(0, cut) + rest))
}

/** Describes the event in a block that ended the response. */
function endOf(block: SseBlock, { from, to }: SseEvent, signal: End['signal']): End {
  const event = block.text.slice(from, to)
  const before = asciiAt(block)
  const bytes = before === undefined ? undefined : block.bytes?.subarray(before + from, before + to)
  return { signal, event, bytes: bytes ?? encoder.encode(event) }
}

/** The offset of the text in the block's bytes, if each character is one byte; otherwise undefined. */
function asciiAt({ bytes, text, firstRest }: SseBlock): number | undefined {
  const before = firstRest?.length ?? 0
  return bytes && bytes.length - before === text.length ? before : undefined
}

/**
 * Passes on an event that has several lines, or lines without a field name. The readable parts of the event are sent in
 * the usual format.
 */
function passOddOn(
  event: SseEvent,
  raw: string,
  meter: StreamMeter,
  withholdUsage: boolean,
): { text: string; end?: End } {
  const ownName = /^event:[^\r\n]*/m.exec(raw)?.[0]
  let text = ''
  for (const message of messagesIn(event)) {
    const signal = meter.feed(message)
    if (signal === 'skip' || (signal === 'usage-only' && withholdUsage)) continue
    const name = ownName ?? nameIn(message)
    const data = (meter.instead ?? message).replaceAll('\n', '\ndata: ')
    const written = `${name === undefined ? '' : `${name}\n`}data: ${data}\n\n`
    if (signal === 'content' || signal === 'usage-only') text += written
    else return { text, end: { signal, event: written, bytes: encoder.encode(written) } }
  }
  return { text }
}

/**
 * The `event:` line for a message, for clients that rely on it. In dialects whose events have a `type`, the type is the
 * event name.
 */
function nameIn(message: string): string | undefined {
  const event = tryParse(message)
  return isObject(event) && typeof event['type'] === 'string' ? `event: ${event['type']}` : undefined
}

/** Joins two chunks. If one of them is absent or empty, the other is returned without being copied. */
export function joined(a: Uint8Array | undefined, b: Uint8Array | undefined): Uint8Array | undefined {
  if (!a || a.length === 0) return b ?? a
  if (!b || b.length === 0) return a
  return Buffer.concat([a, b])
}

/**
 * Joins two chunks like `joined`, but without a copy of `a` if both are parts of one buffer. In that case, `b` is moved
 * to the end of `a` and overwrites the bytes between them, so no other code may still read the buffer.
 */
export function closedUp(a: Uint8Array | undefined, b: Uint8Array): Uint8Array {
  if (!a || a.length === 0) return b
  const isBehind = a.buffer === b.buffer && b.byteOffset >= a.byteOffset + a.length
  if (!isBehind) return Buffer.concat([a, b])
  const out = new Uint8Array(a.buffer, a.byteOffset, a.length + b.length)
  out.set(b, a.length)
  return out
}
