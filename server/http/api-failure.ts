/** A refusal whose text can be shown to the caller; sent as `{ success: false, message }`. */
export class ApiFailure extends Error {
  readonly status: 200 | 400 | 401 | 403 | 404 | 408 | 413 | 429 | 500 | 503
  /** Further fields of the response, for calls that return some even when they fail. */
  readonly extra: Readonly<Record<string, unknown>>
  readonly retryAfterSeconds: number | undefined

  constructor(
    message: string,
    status: ApiFailure['status'] = 200,
    options: { extra?: Readonly<Record<string, unknown>>; retryAfterSeconds?: number } = {},
  ) {
    super(message)
    this.status = status
    this.extra = options.extra ?? {}
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** A 429 response that states when to retry. */
export function tooManyRequests(retryAfterSeconds: number): ApiFailure {
  return new ApiFailure('Too many requests, please try again later.', 429, { retryAfterSeconds })
}
