import { Buffer } from 'node:buffer'
import type { Exchange } from './types.ts'
import { pause } from './types.ts'

/**
 * How events are written. The options are variants that the SSE grammar allows, and that some clients do not support.
 */
export interface SseStyle {
  readonly lineEnd?: '\n' | '\r\n' | '\r'
  /** If false, writes `data:{…}` without the space. */
  readonly space?: boolean
  /** Writes a comment line before each event. */
  readonly comments?: boolean
  /** Spreads each JSON document over several `data:` lines. */
  readonly multiLine?: boolean
  /** Writes a byte order mark before the first event. */
  readonly bom?: boolean
  /** Writes an `event:` and an `id:` line in each event. */
  readonly named?: boolean
  /**
   * Where the bytes are split into writes: after each event, nowhere, after every byte, every n bytes, or inside each
   * multi-byte character.
   */
  readonly cut?: 'event' | 'whole' | 'byte' | 'inside-character' | number
}

/** One event as text. */
export function sseEvent(data: unknown, style: SseStyle = {}): string {
  const { lineEnd = '\n', space = true, comments = false, multiLine = false, named = false } = style
  const text = typeof data === 'string' ? data : JSON.stringify(data, null, multiLine ? 1 : undefined)
  const lines = text.split('\n').map((line) => `data:${space ? ' ' : ''}${line}`)
  if (named) lines.unshift('event: message', 'id: 1')
  if (comments) lines.unshift(': keep-alive')
  return lines.map((line) => line + lineEnd).join('') + lineEnd
}

/** Splits bytes into chunks that are sent as separate writes. */
export function cutBytes(bytes: Uint8Array, cut: SseStyle['cut'] = 'event'): Uint8Array[] {
  if (cut === 'whole' || cut === 'event') return [bytes]
  const pieces: Uint8Array[] = []
  if (cut === 'inside-character') {
    let start = 0
    for (let at = 1; at < bytes.length; at++) {
      if (((bytes[at] ?? 0) & 0xc0) !== 0x80) continue
      pieces.push(bytes.subarray(start, at))
      start = at
    }
    pieces.push(bytes.subarray(start))
    return pieces
  }
  const size = cut === 'byte' ? 1 : Math.max(1, cut)
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size))
  return pieces
}

/** The pace of an event stream. */
export interface SsePace {
  readonly delayMs?: number
  readonly firstDelayMs?: number
}

/** Sends events in the given style and pace. Returns false if the caller disconnects before the end. */
export async function sendEvents(
  exchange: Exchange,
  events: readonly unknown[],
  style: SseStyle,
  pace: SsePace,
): Promise<boolean> {
  const texts = events.map((event) => sseEvent(event, style))
  if (style.bom && texts[0] !== undefined) texts[0] = `\ufeff${texts[0]}`
  const together = style.cut === 'whole' || (style.cut !== undefined && style.cut !== 'event' && !pace.delayMs)
  const units = together ? [texts.join('')] : texts
  for (const [index, text] of units.entries()) {
    const waitMs = index === 0 ? (pace.firstDelayMs ?? 0) : (pace.delayMs ?? 0)
    if (waitMs > 0) await pause(waitMs, exchange.callerLeft)
    if (!(await sendPieces(exchange, cutBytes(Buffer.from(text), style.cut)))) return false
  }
  return true
}

/**
 * Sends chunks as separate writes. It yields to the event loop between them so that they are sent as separate segments.
 */
export async function sendPieces(exchange: Exchange, pieces: readonly Uint8Array[]): Promise<boolean> {
  for (const piece of pieces) {
    if (!(await exchange.write(piece))) return false
    if (pieces.length > 1) await new Promise((resolve) => setImmediate(resolve))
  }
  return !exchange.callerLeft.aborted
}
