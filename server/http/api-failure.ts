import { refusalOf } from './refusal-code.ts'

/**
 * A refusal whose text can be shown to the caller; sent as `{ success: false, message, code }`. The code belongs to the
 * text: contract/refusals.ts lists all of them.
 */
export class ApiFailure extends Error {
  readonly status: 200 | 400 | 401 | 403 | 404 | 408 | 413 | 429 | 500 | 503
  /** Further fields of the response, for calls that return some even when they fail. */
  readonly extra: Readonly<Record<string, unknown>>
  readonly retryAfterSeconds: number | undefined
  /** The text was written by another service, so it has no code. */
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

/** The body of a refusal with this text, with its code and the values of the text. */
export function refusalBody(message: string) {
  return { success: false, message, ...refusalOf(message) }
}

/** A 429 response that states when to retry. */
export function tooManyRequests(retryAfterSeconds: number): ApiFailure {
  return new ApiFailure('Too many requests, please try again later.', 429, { retryAfterSeconds })
}
