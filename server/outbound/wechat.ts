import * as z from 'zod/mini'
import { callJson, OutboundError } from './call-json.ts'

/** The helper server, which gives codes to WeChat accounts and returns the account for a code. */
export interface WeChatServer {
  /** The URL of the server, without a trailing slash. */
  address: string
  token: string
}

const answerSchema = z.object({ success: z.boolean(), data: z.nullish(z.string()) })

/** The id of the WeChat account that received a code. */
export async function wechatId(server: WeChatServer, code: string): Promise<string> {
  const answer = await callJson(
    'The WeChat server',
    `${server.address}/api/wechat/user?code=${encodeURIComponent(code)}`,
    { method: 'GET', headers: { authorization: server.token } },
  )
  const result = z.safeParse(answerSchema, answer)
  if (!result.success) {
    throw new OutboundError('unavailable', 'The WeChat server sent an invalid response.', result.error)
  }
  const id = result.data.data?.trim() ?? ''
  if (!result.data.success || id === '' || id.length > 200 || /\p{Cc}/u.test(id)) {
    throw new OutboundError('refused', 'The verification code is wrong or has expired.')
  }
  return id
}
