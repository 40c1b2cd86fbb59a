import type { Usage } from '../../../contract/usage.ts'
import type { Failure } from '../../dialects/neutral/reply.ts'
import type { UpstreamPiece, UpstreamReader } from '../upstream/upstream-reader.ts'

/**
 * What came next for the caller. `fault`: reading it failed by a fault of the gateway. `ready`: events in the caller's dialect, metered by who read them. `last`: the end of
 * the answer, which waits for the charge; `end` writes what comes behind `bytes`, with the usage where that was counted here.
 */
export type StreamPiece =
  | UpstreamPiece
  | { kind: 'ready'; bytes: Uint8Array }
  | { kind: 'fault'; fault: unknown }
  | { kind: 'last'; bytes: Uint8Array; outcome: 'done'; end?: WriteEnd }
  | { kind: 'last'; bytes: Uint8Array; outcome: 'error' | 'garbage' }

/** Writes the end of an answer. `counted`: the usage that is charged, where the upstream told none that can be believed. */
export type WriteEnd = (counted: Usage | undefined) => string

/** Where a stream's pieces come from. */
export interface StreamReader extends Pick<UpstreamReader, 'cancel' | 'drain' | 'hurry'> {
  ask(answer: (piece: StreamPiece) => void): void
  next(): Promise<StreamPiece>
  /** The end of an answer that broke off, where the dialect of the caller has a form for it that goes on from what was written. */
  failed?(failure: Failure, charged: Usage | undefined): string
}
