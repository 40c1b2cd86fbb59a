import { logType } from '../../../contract/log-types.ts'
import { GatewayError } from '../../errors.ts'
import type { CallerRow } from '../../store/accounts/callers.ts'
import type { LogRow } from '../../store/schema/ledger-types.ts'
import { attemptsText, cutTo, longestName } from '../call/attempts-text.ts'
import type { AnyCall } from '../call/call.ts'
import type { RoutingTable } from '../routing/routing-table.ts'
import { AttemptFailed } from './retry-policy.ts'

/** What is known of a call that failed; of one that was refused early not much is. */
export interface FailedCall {
  requestId: string
  caller: CallerRow
  /** Path of the address, without its query, where keys may stand. */
  endpoint: string
  error: unknown
  /** Error code and HTTP status of the answer. */
  code: string
  status: number
  /** Undefined when the request could not be read. */
  call?: AnyCall | undefined
  /** The model that was asked for; '' when that is not known. */
  model: string
  startedAtMs: number
}

/** Longest message of a row. */
const longestMessage = 500

/**
 * The log row of a failed call. `model_name` is a model that is served here: names that callers make up would each get
 * sums of their own. What was asked for stands beside it.
 */
export function failedRow(failed: FailedCall, routing: RoutingTable, nowMs: number): LogRow {
  const { caller, call, error } = failed
  const attempts = call?.attempts ?? []
  const last = attempts.at(-1)
  const channelId = last?.channelId ?? call?.caller.chosenChannel?.id ?? 0
  const asked = cutTo(failed.model, longestName)
  const ran = cutTo(modelAt(routing, channelId, caller.group, failed.model), longestName)
  return {
    user_id: caller.userId,
    username: cutTo(caller.username, longestName),
    created_at: Math.floor(nowMs / 1000),
    type: logType.error,
    content: cutTo(ownText(error), longestMessage),
    token_id: caller.tokenId,
    token_name: cutTo(caller.tokenName, longestName),
    model_name: ran,
    asked_model: asked === ran ? '' : asked,
    prompt_tokens: 0,
    completion_tokens: 0,
    channel_id: channelId,
    request_id: failed.requestId,
    elapsed_time: Math.max(0, Math.round(nowMs - failed.startedAtMs)),
    is_stream: call?.facts.stream ?? false,
    system_prompt_reset: false,
    first_byte_time: 0,
    cached_tokens: 0,
    reasoning_tokens: 0,
    estimated: false,
    outcome: 'failed',
    attempts: attempts.length === 0 ? '' : attemptsText(attempts),
    endpoint: cutTo(failed.endpoint, longestName),
    status: failed.status,
    code: failed.code,
    upstream_message: cutTo(upstreamText(error), longestMessage),
  }
}

/** The model as the channel was asked for it, or the asked one; '' where nothing of that name is served. */
function modelAt(routing: RoutingTable, channelId: number, group: string, asked: string): string {
  const channel = routing.channel(channelId)
  const mapped = channel?.modelMapping.get(asked)
  if (mapped !== undefined) return mapped
  // Whoever chooses a channel may ask it for any name.
  const isServed = channel?.models.includes(asked) || routing.candidates(group, asked).length > 0
  return isServed ? asked : ''
}

/** The upstream's own words, which only admins may read; '' when there are none. */
function upstreamText(error: unknown): string {
  if (!(error instanceof AttemptFailed)) return ''
  // The caller may have been told something else instead.
  const { cause } = error.error
  if (cause instanceof GatewayError) return cause.message
  return error.plain ?? (isUpstreams(error) ? error.error.message : '')
}

function isUpstreams({ shaped, failure, raw, error }: AttemptFailed): boolean {
  return (shaped ?? failure ?? raw) !== undefined || error.code === 'bad_response_status_code'
}

/** What went wrong, in the gateway's words. */
function ownText(error: unknown): string {
  if (error instanceof AttemptFailed) {
    if (!isUpstreams(error)) return error.error.message
    return `the upstream answered with ${error.status >= 400 ? `status ${error.status}` : 'an error'}`
  }
  return error instanceof GatewayError ? error.message : 'an internal error occurred'
}
