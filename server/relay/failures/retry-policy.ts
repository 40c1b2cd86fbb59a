import type { Failure, FailureKind } from '../../dialects/neutral/reply.ts'
import type { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'

/** What a failed attempt means for the rest of the call and for the channel. */
export interface Verdict {
  /** True if another channel may succeed. */
  retry: boolean
  /** True if the upstream is at fault, not the caller. The failure then counts against the channel's health. */
  upstreamFault: boolean
  /** The reason why the channel's key or account is no longer usable; undefined if it is usable. */
  disable: string | undefined
  /** Set if the upstream refused the channel's key or account, not the call. Only the operator can fix this problem. */
  account?: true
  /**
   * Set if nothing was sent, because the channel cannot make this call. Trying the next channel then does not count as
   * a retry.
   */
  unsent?: true
}

/**
 * Words in an upstream's message which mean that the operator's account is closed, unpaid or blocked. They are in lower
 * case and used in a RegExp.
 */
const accountTroubles = [
  'your access was terminated',
  'violation of our policies',
  'your credit balance is too low',
  'organization has been disabled',
  'organization has been restricted',
  'api key not valid',
  'api key expired',
  'incorrect api key',
  'invalid api[- ]key',
  'insufficient balance',
  '已欠费',
]

const namesTrouble = new RegExp(accountTroubles.join('|'))
const isTrouble = new RegExp(`^[\\p{L} ]{0,6}(?:${accountTroubles.join('|')})`, 'u')
/** Statuses with which services report problems of the account. */
const accountStatuses = new Set([402, 403, 429])

const deadTypes = new Set([
  'insufficient_quota',
  'exceeded_current_quota_error',
  'authentication_error',
  'permission_error',
  'forbidden',
])
const deadCodes = new Set(['invalid_api_key', 'account_deactivated'])

/** Kinds of failure that are about the channel's key or account. */
const accountKinds: ReadonlySet<FailureKind | undefined> = new Set(['authentication', 'billing', 'permission'])

/** The phrases by which a 403 shows that it is about the caller's content and not about the account. */
const aboutContent =
  /moderat|flagged|content[ _-]?(?:policy|filter|management|violat)|violates (?:our |the )?(?:usage|content)|safety|sensitive|data_?inspection|\bfile\b.{0,80}may not exist|敏感|违规/i

/**
 * Judges an upstream's error response. After 401, 402, 403, 408, 409, 429 and 5xx, the call may succeed on another
 * channel. This also applies to 404, because the channel may lack the model. Other 4xx are the caller's fault, so the
 * call would fail on every channel. `kind` is the dialect's classification of the error.
 */
export function judgeStatus(
  status: number,
  error: JsonObject | undefined,
  message: string,
  kind?: FailureKind,
): Verdict {
  if (kind === 'context-length') return { retry: false, upstreamFault: false, disable: undefined }
  const isContent = status === 403 && aboutContent.test(`${wordOf(error?.['code'])} ${message}`)
  const disable = isContent ? undefined : disablingReason(status, error, message)
  const isAccount =
    !isContent &&
    (disable !== undefined || status === 401 || status === 402 || status === 403 || accountKinds.has(kind))
  // A 429 means that the upstream is busy, not that it is broken. 404 and 409 say nothing about its health.
  const isBroken = isAccount || status >= 500 || status === 408 || (status >= 300 && status < 400)
  const retry = isBroken || isContent || status === 404 || status === 409 || status === 429
  return { retry, upstreamFault: isBroken, disable, ...(isAccount && { account: true }) }
}

function disablingReason(status: number, error: JsonObject | undefined, message: string): string | undefined {
  if (status === 401) return `status 401: ${message}`
  const [type, code] = [wordOf(error?.['type']), wordOf(error?.['code'])]
  if (deadTypes.has(type) || deadCodes.has(code)) return `${code || type}: ${message}`
  // The message of an error with any other status may quote the caller's text, so only its first words can show that it
  // is about the account.
  const trouble = accountStatuses.has(status) ? namesTrouble : isTrouble
  return trouble.test(message.toLowerCase()) ? message : undefined
}

/** The text of a field; '' if the upstream sent something other than a text or a number. */
function wordOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** Judges a failure to get any response. */
export function judgeFailure(error: GatewayError): Verdict {
  // This error comes from the service that issues upstream tokens. The service has refused the channel's key.
  if (error.code === 'bad_response_status_code') return judgeStatus(error.status, undefined, error.message)
  const upstreamFault = error.type === 'upstream_error'
  return { retry: upstreamFault, upstreamFault, disable: undefined }
}

const firstBackOffMs = 50
const longestBackOffMs = 1000

/**
 * The pause before the next attempt. It doubles each time, with jitter so that many callers do not come back at the
 * same moment.
 */
export function backOffMs(attempt: number, random: () => number): number {
  return Math.min(longestBackOffMs, firstBackOffMs * 2 ** attempt) * (0.5 + random() / 2)
}

/** Statuses of a service that is only temporarily unable to respond. Anthropic uses 529 when it is overloaded. */
const passingStatuses: ReadonlySet<number> = new Set([408, 500, 502, 503, 504, 529])

/**
 * True for a failure that the same channel may not repeat a moment later: a connection that was refused or reset before
 * the response, a temporary error of the service, or a busy service that specifies when to retry. After a timeout, the
 * same channel is not tried again, because the next attempt would probably take as long.
 */
export function isRepeatable({ status, error, verdict, shouldRetry }: AttemptFailed): boolean {
  if (!verdict.retry || verdict.unsent || verdict.account || shouldRetry === 'false') return false
  if (error.code === 'do_request_failed') return status === 0
  if (error.code !== 'bad_response_status_code') return false
  return passingStatuses.has(error.status) || (error.status === 429 && error.retryAfterSeconds !== undefined)
}

/**
 * The pause before the same channel is called again: the pause that the service asks for, or a short one that doubles
 * each time.
 */
export function repeatAfterMs({ error }: AttemptFailed, repeats: number, random: () => number): number {
  const wantedMs = (error.retryAfterSeconds ?? 0) * 1000
  // Jitter is added, so that callers that wait for the same service do not all come back at the same moment.
  return wantedMs > 0 ? wantedMs + random() * mostJitterMs : firstRepeatMs * 2 ** repeats * (0.5 + random() / 2)
}

const firstRepeatMs = 250
const mostJitterMs = 250

/**
 * The number of seconds from now that a Retry-After header specifies, as seconds or as a date. Undefined if the header
 * is absent, unreadable or makes no sense.
 */
export function retryAfterSeconds(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined
  if (/^\s*\d{1,9}(\.\d+)?\s*$/.test(header)) return Number(header)
  if (Number.isFinite(Number(header))) return undefined
  const dateMs = Date.parse(header)
  return Number.isNaN(dateMs) ? undefined : Math.max(0, (dateMs - nowMs) / 1000)
}

/**
 * A failed attempt. It contains the error that the caller receives if no other channel succeeds, and the verdict on the
 * failure.
 */
export class AttemptFailed extends Error {
  readonly error: GatewayError
  readonly verdict: Verdict
  /** HTTP status of the response; 0 = no response arrived. */
  readonly status: number
  /** The upstream's own error object, passed on to the caller. */
  readonly shaped: JsonObject | undefined
  /** The upstream's error in neutral form (independent of the dialect), if its dialect is not OpenAI's. */
  readonly failure: Failure | undefined
  /** The upstream's error body, for callers that use the same dialect. */
  readonly raw: { dialect: string; text: string } | undefined
  /** The upstream's error body as text; '' if no response arrived or its status was not an error. */
  readonly text: string
  /** The upstream's `x-should-retry` header. */
  readonly shouldRetry: string | undefined
  /**
   * The upstream's text, for administrators, if no client can parse it. An example is the HTML page of a proxy in front
   * of the upstream.
   */
  readonly plain: string | undefined

  constructor(
    error: GatewayError,
    verdict: Verdict,
    status: number,
    details: {
      shaped?: JsonObject | undefined
      failure?: Failure
      raw?: AttemptFailed['raw']
      text?: string
      shouldRetry?: string | undefined
      plain?: string | undefined
    } = {},
  ) {
    super(error.message, { cause: error })
    this.error = error
    this.verdict = verdict
    this.status = status
    this.shaped = details.shaped
    this.failure = details.failure
    this.raw = details.raw
    this.text = details.text ?? ''
    this.shouldRetry = details.shouldRetry
    this.plain = details.plain
  }
}
