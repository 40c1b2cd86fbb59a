import type { Usage } from '../../../contract/usage.ts'
import type { StreamMeter } from '../../dialects/neutral/dialect.ts'
import type { Failure } from '../../dialects/neutral/reply.ts'
import type { GatewayError } from '../../errors.ts'
import type { OpenCall } from '../charging/settlement.ts'
import type { UpstreamPiece, UpstreamReader } from '../upstream/upstream-reader.ts'

/**
 * The next piece for the caller. `ready`: events in the caller's dialect, which the reader has metered. `fault`: the
 * gateway failed to read the piece. `last`: the end of the response, which waits for the charge. `end` writes what
 * follows `bytes`, with the usage if it was counted here. `write` writes the upstream's error; undefined if it cannot
 * be written. `rescued`: another attempt continues the stream, or none does.
 */
export type StreamPiece =
  | UpstreamPiece
  | { kind: 'ready'; bytes: Uint8Array }
  | { kind: 'fault'; fault: unknown }
  | { kind: 'last'; bytes: Uint8Array; outcome: 'done'; end?: WriteEnd }
  | { kind: 'last'; outcome: 'error'; write: () => string | undefined }
  | { kind: 'last'; outcome: 'garbage' }
  | { kind: 'rescued'; next: NextPart | undefined }

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

/** The attempt that continues a broken stream: its pieces are in the caller's dialect. */
export interface NextPart {
  readonly open: OpenCall
  readonly reader: StreamReader
  readonly meter: StreamMeter
}

/** A stream that broke off: the last attempt, what it has delivered, and why it ended. */
export interface Broken {
  readonly open: OpenCall
  readonly meter: StreamMeter
  readonly firstByteMs: number
  /** Its message is for the log and for administrators. */
  readonly error: GatewayError
}

/** Lets another attempt continue a stream that broke off. */
export interface Rescuer {
  /** False if the stream has contained something that cannot be continued. */
  readonly isPossible: boolean
  /**
   * Makes the next attempt. Undefined if none is possible or all fail; nothing has been charged then. A caller who
   * disconnects in the meantime is charged for the prompt of the attempt that was made.
   */
  goOn(broken: Broken): Promise<NextPart | undefined>
}
