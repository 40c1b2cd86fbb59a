/**
 * The HTTP status of an error response, and its `type` as in OpenAI's errors. The keys of `errorTable` are the stable
 * error codes that docs/errors.md lists.
 */
interface ErrorKind {
  status: number
  type: string
}

const gateway = 'one_api_error'
const invalid = 'invalid_request_error'
const upstream = 'upstream_error'
const rate = 'rate_limit_error'

/**
 * Every error code that the relay returns. If one-api has a code for a case, its code and type are used, because
 * clients check them. Status 0 means that the upstream's own status is passed on.
 */
export const errorTable = {
  invalid_token: { status: 401, type: gateway },
  token_exhausted: { status: 401, type: gateway },
  token_expired: { status: 401, type: gateway },
  token_unavailable: { status: 401, type: gateway },
  ip_not_allowed: { status: 403, type: gateway },
  user_banned: { status: 403, type: gateway },
  group_not_allowed: { status: 403, type: gateway },
  model_not_allowed: { status: 403, type: gateway },
  channel_choice_not_allowed: { status: 403, type: gateway },
  invalid_channel_id: { status: 400, type: gateway },
  channel_disabled: { status: 403, type: gateway },
  insufficient_user_quota: { status: 403, type: gateway },
  pre_consume_token_quota_failed: { status: 403, type: gateway },
  rate_limit_exceeded: { status: 429, type: rate },
  daily_budget_exceeded: { status: 403, type: gateway },
  monthly_budget_exceeded: { status: 403, type: gateway },
  channels_full: { status: 429, type: rate },
  no_available_channel: { status: 503, type: gateway },
  model_not_found: { status: 404, type: invalid },
  model_not_priced: { status: 503, type: gateway },
  tier_not_priced: { status: 400, type: invalid },
  tool_not_priced: { status: 400, type: invalid },
  mode_not_supported: { status: 400, type: gateway },
  feature_not_supported: { status: 400, type: invalid },
  thread_not_supported: { status: 400, type: invalid },
  thread_not_found: { status: 404, type: invalid },
  response_not_found: { status: 404, type: invalid },
  database_unavailable: { status: 503, type: gateway },
  storage_unavailable: { status: 503, type: gateway },
  loop_detected: { status: 508, type: gateway },
  shutting_down: { status: 503, type: gateway },
  invalid_json: { status: 400, type: invalid },
  required_field_missing: { status: 400, type: invalid },
  invalid_field_value: { status: 400, type: invalid },
  prompt_missing: { status: 400, type: invalid },
  prompt_too_long: { status: 400, type: invalid },
  size_not_supported: { status: 400, type: invalid },
  n_not_within_range: { status: 400, type: invalid },
  invalid_multipart: { status: 400, type: invalid },
  request_timeout: { status: 408, type: invalid },
  request_too_complex: { status: 400, type: invalid },
  request_too_large: { status: 413, type: invalid },
  unsupported_media_type: { status: 415, type: invalid },
  upgrade_required: { status: 426, type: invalid },
  api_not_implemented: { status: 501, type: gateway },
  upstream_unavailable: { status: 503, type: upstream },
  bad_response_status_code: { status: 0, type: upstream },
  do_request_failed: { status: 502, type: upstream },
  bad_response_body: { status: 502, type: upstream },
  upstream_timeout: { status: 504, type: upstream },
  upstream_stream_error: { status: 502, type: upstream },
  upstream_stream_incomplete: { status: 502, type: upstream },
  quota_exhausted_mid_stream: { status: 403, type: gateway },
  internal_error: { status: 500, type: gateway },
} as const satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof errorTable

/**
 * A failure with a stable code and a text that may be shown to the caller. The cause is written to the JSON log only,
 * never sent. `param` names the invalid field, if there is one.
 */
export class GatewayError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly type: string
  readonly param: string
  /** The number of seconds after which a retry makes sense. It is sent as the Retry-After header. */
  readonly retryAfterSeconds: number | undefined
  /** Machine-readable details, sent as the `details` field of an error in Anthropic's format. */
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      param?: string
      status?: number
      retryAfterSeconds?: number
      details?: Readonly<Record<string, unknown>>
      cause?: unknown
    } = {},
  ) {
    super(message, { cause: options.cause })
    this.code = code
    this.status = options.status ?? (errorTable[code].status || 502)
    this.type = errorTable[code].type
    this.param = options.param ?? ''
    this.retryAfterSeconds = options.retryAfterSeconds
    this.details = options.details
  }
}

/** The text of an error for the log: message and cause of a GatewayError, the stack of any other error. */
export function describeFault(error: unknown): string {
  if (error instanceof GatewayError) return `${error.message}: ${String(error.cause)}`
  if (error instanceof Error) return error.stack ?? error.message
  // An object without a prototype cannot be converted by `String`.
  return typeof error === 'object' ? Object.prototype.toString.call(error) : String(error)
}
