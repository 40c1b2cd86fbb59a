import type { Dialect } from '../neutral/dialect.ts'
import { messagesRules } from '../neutral/tool-rules.ts'
import { decodeFailure, encodeFailure } from './failure.ts'
import { decodeReply, encodeReply } from './reply.ts'
import { decodeRequest } from './request-in.ts'
import { encodeRequest } from './request-out.ts'
import { MessageStreamDecoder } from './stream-in.ts'
import { MessageStreamEncoder } from './stream-out.ts'

/** Anthropic's Messages API. */
export const anthropicMessages: Dialect = {
  name: 'anthropic-messages',
  decodeRequest,
  encodeRequest,
  toolRules: messagesRules,
  decodeReply,
  encodeReply,
  streamDecoder: () => new MessageStreamDecoder(),
  streamEncoder: (frame) => new MessageStreamEncoder(frame),
  decodeFailure,
  encodeFailure,
}
