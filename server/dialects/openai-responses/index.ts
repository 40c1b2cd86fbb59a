import { decodeFailure, encodeFailure } from '../failures/openai-failure.ts'
import type { Dialect } from '../neutral/dialect.ts'
import { responsesRules } from '../neutral/tool-rules.ts'
import { decodeReply, encodeReply } from './reply.ts'
import { decodeRequest } from './request-in.ts'
import { encodeRequest } from './request-out.ts'
import { ResponseStreamDecoder } from './stream-in.ts'
import { ResponseStreamEncoder } from './stream-out.ts'

/** OpenAI's Responses API. */
export const openaiResponses: Dialect = {
  name: 'openai-responses',
  decodeRequest,
  encodeRequest,
  toolRules: responsesRules,
  decodeReply,
  encodeReply,
  streamDecoder: () => new ResponseStreamDecoder(),
  streamEncoder: (frame) => new ResponseStreamEncoder(frame),
  decodeFailure,
  encodeFailure,
}
