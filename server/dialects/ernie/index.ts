import { chatBased } from '../chat-based/chat-based.ts'
import { failureIn, failureWithin } from './failure.ts'
import { chunkIn, replyIn } from './reply.ts'
import { requestOut } from './request.ts'

/** Baidu's original format for conversations with ERNIE (Qianfan API reference, "wenxinworkshop/chat"). */
export const ernie = chatBased({
  name: 'ernie',
  options: { reasoningField: 'reasoning_content' },
  request: requestOut,
  reply: replyIn,
  chunks: () => (event) => [chunkIn(event)],
  failureWithin,
  decodeFailure: failureIn,
})
