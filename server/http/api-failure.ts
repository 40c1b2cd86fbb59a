import { refusalOf } from './refusal-code.ts'

/**
 * A refusal whose text may be shown to the caller. It is sent as `{ success: false, message, code }`. Each text has a
 * code, except texts quoted from other services. contract/refusals.ts lists all texts and codes.
 */
export class ApiFailure extends Error {
  readonly status: 200 | 400 | 401 | 403 | 404 | 408 | 413 | 429 | 500 | 503
  /** Additional fields of the response, for endpoints that return data even if the call fails. */
  readonly extra: Readonly<Record<string, unknown>>
  readonly retryAfterSeconds: number | undefined
  /** True if the text comes from another service, so that it has no code. */
  readonly isQuoted: boolean

  constructor(
    message: string,
    status: ApiFailure['status'] = 200,
    options: { extra?: Readonly<Record<string, unknown>>; retryAfterSeconds?: number; isQuoted?: boolean } = {},
  ) {
    super(message)
    this.status = status
    this.extra = options.extra ?? {}
    this.retryAfterSeconds = options.retryAfterSeconds
    this.isQuoted = options.isQuoted ?? false
  }
}

/** The body of a refusal with this text, including the code and the values of its placeholders. */
export function refusalBody(message: string) {
  return { success: false, message, ...refusalOf(message) }
}

/** A 429 response that states when to retry. */
export function tooManyRequests(retryAfterSeconds: number): ApiFailure {
  return new ApiFailure('Too many requests, please try again later.', 429, { retryAfterSeconds })
}
