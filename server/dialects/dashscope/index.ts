import { chatBased } from '../chat-based/chat-based.ts'
import { failureIn, failureWithin } from './failure.ts'
import { replyIn } from './reply.ts'
import { requestOut } from './request.ts'
import { chunkReader } from './stream.ts'

/**
 * Alibaba's native format for conversations with Qwen (DashScope API reference, text-generation and
 * multimodal-generation).
 */
export const dashscope = chatBased({
  name: 'dashscope',
  options: { reasoningField: 'reasoning_content' },
  request: requestOut,
  reply: replyIn,
  chunks: chunkReader,
  failureWithin,
  decodeFailure: failureIn,
})
