import type { UpstreamPiece, UpstreamReader } from './upstream-reader.ts'

/**
 * What came next for the caller. `fault`: reading it failed by a fault of the gateway. `ready`: events in the caller's dialect, metered by who read them. `last`: the end of
 * the answer, which waits for the charge.
 */
export type StreamPiece =
  | UpstreamPiece
  | { kind: 'ready'; bytes: Uint8Array }
  | { kind: 'fault'; fault: unknown }
  | { kind: 'last'; bytes: Uint8Array; outcome: 'done' | 'error' | 'garbage' }

/** Where a stream's pieces come from. */
export interface StreamReader extends Pick<UpstreamReader, 'cancel' | 'drain' | 'hurry'> {
  ask(answer: (piece: StreamPiece) => void): void
  next(): Promise<StreamPiece>
}
