import { logType } from '../../contract/log-types.ts'
import type { OpenHold } from '../store/installation/nodes.ts'
import { emptyLogRow } from '../store/logs/logs.ts'
import type { SettleOp } from '../store/schema/ledger-types.ts'

/**
 * Returns the operation that settles the hold of a call that no process can finish. It charges the prompt and the
 * output that is known to have been delivered, and gives the rest back. The call is logged as interrupted, with
 * `content` as the reason.
 */
export function crashSettle(hold: OpenHold, now: number, content: string): SettleOp {
  return {
    kind: 'settle',
    id: hold.id,
    userId: hold.user_id,
    tokenId: hold.token_id,
    channelId: hold.channel_id,
    placedOn: hold.channel_id,
    charge: Math.min(hold.crash_charge, hold.amount),
    mayGoNegative: false,
    requests: 1,
    at: now,
    log: {
      ...emptyLogRow,
      user_id: hold.user_id,
      created_at: now,
      type: logType.consume,
      content,
      username: hold.username ?? '',
      token_name: hold.token_name ?? '',
      model_name: hold.model_name,
      prompt_tokens: hold.prompt_tokens,
      completion_tokens: hold.completion_tokens,
      channel_id: hold.channel_id,
      request_id: hold.request_id,
      token_id: hold.token_id,
      estimated: true,
      outcome: 'interrupted',
    },
  }
}
