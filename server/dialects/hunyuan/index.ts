import { chatBased } from '../chat-based/chat-based.ts'
import { failureIn, failureWithin } from './failure.ts'
import { chunkIn, replyIn } from './reply.ts'
import { requestOut } from './request.ts'

/** Tencent's native format for conversations with Hunyuan (Hunyuan API reference, "ChatCompletions"). */
export const hunyuan = chatBased({
  name: 'hunyuan',
  request: requestOut,
  reply: replyIn,
  chunks: () => (event) => [chunkIn(event)],
  failureWithin,
  decodeFailure: failureIn,
})
