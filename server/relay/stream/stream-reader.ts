import type { Usage } from '../../../contract/usage.ts'
import type { Failure } from '../../dialects/neutral/reply.ts'
import type { UpstreamPiece, UpstreamReader } from '../upstream/upstream-reader.ts'

/**
 * The next piece for the caller.
 * `ready`: events in the caller's dialect, which the reader has metered.
 * `fault`: the gateway failed to read the piece.
 * `last`: the end of the response, which waits for the charge. `end` writes what follows `bytes`, with the usage if it
 * was counted here.
 */
export type StreamPiece =
  | UpstreamPiece
  | { kind: 'ready'; bytes: Uint8Array }
  | { kind: 'fault'; fault: unknown }
  | { kind: 'last'; bytes: Uint8Array; outcome: 'done'; end?: WriteEnd }
  | { kind: 'last'; bytes: Uint8Array; outcome: 'error' | 'garbage' }

/** Writes the end of a response. `counted` is the charged usage, if the upstream reported none that can be believed. */
export type WriteEnd = (counted: Usage | undefined) => string

/** Where a stream's pieces come from. */
export interface StreamReader extends Pick<UpstreamReader, 'cancel' | 'drain' | 'hurry'> {
  ask(answer: (piece: StreamPiece) => void): void
  next(): Promise<StreamPiece>
  /**
   * The end of a response that broke off. It continues the events already sent. Absent if the caller's dialect has no
   * such end.
   */
  failed?(failure: Failure, charged: Usage | undefined): string
}
