import type { Dialect } from '../neutral/dialect.ts'
import { geminiRules } from '../neutral/tool-rules.ts'
import { decodeFailure, encodeFailure } from './failure.ts'
import { decodeReply, encodeReply } from './reply.ts'
import { decodeRequest } from './request-in.ts'
import { encodeRequest } from './request-out.ts'
import { ContentStreamDecoder } from './stream-in.ts'
import { ContentStreamEncoder } from './stream-out.ts'

/** Google's Gemini API: generateContent and its stream. */
export const gemini: Dialect = {
  name: 'gemini',
  decodeRequest,
  encodeRequest,
  toolRules: geminiRules,
  decodeReply,
  encodeReply,
  endsByReason: true,
  streamDecoder: (idSeed) => new ContentStreamDecoder(idSeed),
  streamEncoder: (frame) => new ContentStreamEncoder(frame),
  decodeFailure,
  encodeFailure,
}
