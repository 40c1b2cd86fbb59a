import type { UpstreamDialect } from '../neutral/dialect.ts'
import { decodeFailure } from './failure.ts'
import { decodeReply } from './reply.ts'
import { encodeRequest } from './request-out.ts'
import { CohereStreamDecoder } from './stream-in.ts'

/** Version 2 of Cohere's Chat API. */
export const cohereChat: UpstreamDialect = {
  name: 'cohere-chat',
  encodeRequest,
  decodeReply,
  streamDecoder: () => new CohereStreamDecoder(),
  decodeFailure,
}
