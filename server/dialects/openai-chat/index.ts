import { flatError } from '../failures/flat-error.ts'
import { decodeFailure, encodeFailure } from '../failures/openai-failure.ts'
import type { Dialect } from '../neutral/dialect.ts'
import { chatRules } from '../neutral/tool-rules.ts'
import { decodeReply, encodeReply } from './reply.ts'
import { decodeRequest } from './request-in.ts'
import { encodeRequest } from './request-out.ts'
import { ChunkStreamDecoder } from './stream-in.ts'
import { ChunkStreamEncoder } from './stream-out.ts'

/** OpenAI's chat completions. */
export const openaiChat: Dialect = {
  name: 'openai-chat',
  decodeRequest,
  encodeRequest,
  toolRules: chatRules,
  decodeReply,
  encodeReply,
  streamDecoder: (idSeed) => new ChunkStreamDecoder(idSeed),
  streamEncoder: (frame) => new ChunkStreamEncoder(frame),
  decodeFailure,
  failureWithin(wire) {
    const error = Array.isArray(wire['choices']) ? undefined : flatError(wire)
    return error && decodeFailure(0, error)
  },
  encodeFailure,
}
