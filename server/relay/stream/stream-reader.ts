import type { Usage } from '../../../contract/usage.ts'
import type { StreamMeter } from '../../dialects/neutral/dialect.ts'
import type { Failure } from '../../dialects/neutral/reply.ts'
import type { GatewayError } from '../../errors.ts'
import type { OpenCall } from '../charging/settlement.ts'
import type { UpstreamPiece, UpstreamReader } from '../upstream/upstream-reader.ts'

/**
 * The next piece for the caller:
 * - `ready`: events in the caller's dialect, which the reader has already metered
 * - `fault`: the gateway failed to read the piece
 * - `last`: the end of the response, which is sent after the charge. `end` writes the events after `bytes`, including
 *   the usage if the gateway counted it. `write` writes the upstream's error, or returns undefined if that is
 *   impossible.
 * - `rescued`: the search for another attempt is over. Either `next` continues the stream, or no attempt could.
 */
export type StreamPiece =
  | UpstreamPiece
  | { kind: 'ready'; bytes: Uint8Array }
  | { kind: 'fault'; fault: unknown }
  | { kind: 'last'; bytes: Uint8Array; outcome: 'done'; end?: WriteEnd }
  | { kind: 'last'; outcome: 'error'; write: () => string | undefined }
  | { kind: 'last'; outcome: 'garbage' }
  | { kind: 'rescued'; next: NextPart | undefined }

/** Writes the end of a response. `counted` is the charged usage, if the upstream did not report plausible usage. */
export type WriteEnd = (counted: Usage | undefined) => string

/** The source of a stream's pieces. */
export interface StreamReader extends Pick<UpstreamReader, 'cancel' | 'drain' | 'hurry'> {
  ask(answer: (piece: StreamPiece) => void): void
  next(): Promise<StreamPiece>
  /**
   * Writes the end of a response that broke off, as a continuation of the events already sent. Absent if the caller's
   * dialect has no events for such an end.
   */
  failed?(failure: Failure, charged: Usage | undefined): string
}

/** The attempt that continues a broken stream. Its pieces are in the caller's dialect. */
export interface NextPart {
  readonly open: OpenCall
  readonly reader: StreamReader
  readonly meter: StreamMeter
}

/** A stream that broke off: its last attempt, the delivered part, and why it ended. */
export interface Broken {
  readonly open: OpenCall
  readonly meter: StreamMeter
  readonly firstByteMs: number
  /** The message of this error is for the log and for administrators. */
  readonly error: GatewayError
}

/** Lets another attempt continue a stream that broke off. */
export interface Rescuer {
  /** False if the stream cannot be continued, because of its content or because no further attempt is allowed. */
  readonly isPossible: boolean
  /**
   * Makes the next attempt. Undefined if no attempt is possible or all attempts fail. Failed attempts cost the caller
   * nothing. If the caller disconnects during an attempt, the caller is charged for the prompt of that attempt.
   */
  goOn(broken: Broken): Promise<NextPart | undefined>
}
