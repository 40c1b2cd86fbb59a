import type { StreamMeter } from '../../dialects/neutral/dialect.ts'
import type { RelayDeps } from '../call/deps.ts'
import type { OpenCall } from '../charging/settlement.ts'
import type { UpstreamPiece } from '../upstream/upstream-reader.ts'
import type { StreamReader } from './stream-reader.ts'

/** Everything needed to make a streamed response. */
export interface StreamOptions {
  deps: RelayDeps
  open: OpenCall
  reader: StreamReader
  meter: StreamMeter
  /** The usage chunk was requested by the gateway, not by the caller. */
  withholdUsage: boolean
  /** Pieces already read to see whether the upstream responds at all. */
  opening: UpstreamPiece[]
}
