import type { UpstreamDialect } from '../neutral/dialect.ts'
import { converseRules } from '../neutral/tool-rules.ts'
import { decodeFailure } from './failure.ts'
import { decodeReply } from './reply.ts'
import { encodeRequest } from './request-out.ts'
import { ConverseStreamDecoder } from './stream-in.ts'

/** Amazon Bedrock's Converse API, which all of its language models support. */
export const bedrockConverse: UpstreamDialect = {
  name: 'bedrock-converse',
  encodeRequest,
  toolRules: converseRules,
  decodeReply,
  streamDecoder: () => new ConverseStreamDecoder(),
  decodeFailure,
}
