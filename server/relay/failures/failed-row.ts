import { logType } from '../../../contract/log-types.ts'
import { GatewayError } from '../../errors.ts'
import type { CallerRow } from '../../store/accounts/callers.ts'
import type { LogRow } from '../../store/schema/ledger-types.ts'
import { attemptsText, cutTo, longestName } from '../call/attempts.ts'
import type { AnyCall } from '../call/call.ts'
import { type CallDescription, storedDescription } from '../call/call-description.ts'
import type { RoutingTable } from '../routing/routing-table.ts'
import { AttemptFailed } from './retry-policy.ts'

/** The known facts about a failed call. A call that was refused early has few of them. */
export interface FailedCall {
  requestId: string
  caller: CallerRow
  /** The path of the URL, without its query, because the query may contain keys. */
  endpoint: string
  error: unknown
  /** The error code and HTTP status of the response. */
  code: string
  status: number
  /** The call; undefined if the request could not be read. */
  call?: AnyCall | undefined
  /** How the call was made, if that is known. */
  described: CallDescription
  /** The requested model; '' if not known. */
  model: string
  startedAtMs: number
}

/** The maximum length of a row's message, in characters. */
const longestMessage = 500

/**
 * The log row of a failed call. `model_name` contains only models that the gateway serves. Otherwise, each name that a
 * caller invents would get its own totals. The requested name is in `asked_model`, if it differs.
 */
export function failedRow(failed: FailedCall, routing: RoutingTable, nowMs: number): LogRow {
  const { caller, call, error } = failed
  const attempts = call?.state.attempts ?? []
  const last = attempts.at(-1)
  const channelId = last?.channelId ?? call?.caller.chosenChannel?.id ?? 0
  const requestedModel = cutTo(failed.model, longestName)
  // If the call tried several steps of a virtual model, this is the model of the last step.
  const ran = cutTo(modelAt(routing, channelId, caller.group, last?.model ?? failed.model), longestName)
  return {
    user_id: caller.userId,
    username: cutTo(caller.username, longestName),
    created_at: Math.floor(nowMs / 1000),
    type: logType.error,
    content: cutTo(ownText(error), longestMessage),
    token_id: caller.tokenId,
    token_name: cutTo(caller.tokenName, longestName),
    model_name: ran,
    asked_model: requestedModel === ran ? '' : requestedModel,
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
    kept_place: null,
    request: storedDescription(failed.described, call?.state.upstreamDialect),
  }
}

/** The model name as sent to the channel. Without a channel, the requested name; '' if no such model is served. */
function modelAt(routing: RoutingTable, channelId: number, group: string, requestedModel: string): string {
  const channel = routing.channel(channelId)
  const mapped = channel?.modelMapping.get(requestedModel)
  if (mapped !== undefined) return mapped
  // A caller who chooses a channel can request any model name.
  const isServed = channel?.models.includes(requestedModel) || routing.candidates(group, requestedModel).length > 0
  return isServed ? requestedModel : ''
}

/** The upstream's own message, which only admins may read; '' if there is none. */
function upstreamText(error: unknown): string {
  if (!(error instanceof AttemptFailed)) return ''
  // The caller may have received a different text.
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
    return `the upstream responded with ${error.status >= 400 ? `status ${error.status}` : 'an error'}`
  }
  return error instanceof GatewayError ? error.message : 'an internal error occurred'
}
