import type { StreamMeter } from '../../dialects/neutral/dialect.ts'
import type { RelayDeps } from '../call/deps.ts'
import type { OpenCall } from '../charging/settlement.ts'
import type { UpstreamPiece } from '../upstream/upstream-reader.ts'
import type { StreamReader } from './stream-reader.ts'

/** Everything needed to make a streamed answer. */
export interface StreamOptions {
  deps: RelayDeps
  open: OpenCall
  reader: StreamReader
  meter: StreamMeter
  /** The usage chunk was requested by us, not by the caller. */
  withholdUsage: boolean
  /** Pieces already read to see whether the upstream answers at all. */
  opening: UpstreamPiece[]
}
