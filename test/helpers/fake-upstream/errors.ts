import { sendBody, sendJson } from './reply.ts'
import { type Behaviour, behaviour, type HeaderList } from './types.ts'

/** Options that make an error response differ from the default response for its status. */
export interface StatusOptions {
  readonly message?: string
  readonly type?: string
  readonly code?: string | null
  /** Seconds, or an HTTP date, as Retry-After. */
  readonly retryAfter?: number | string
  /** The shape of the body: OpenAI's (default), plain text, an HTML page, nothing, or broken JSON. */
  readonly shape?: 'openai' | 'text' | 'html' | 'empty' | 'broken'
  readonly headers?: HeaderList
}

const USUAL: {
  readonly [status: number]: { readonly message: string; readonly type: string; readonly code: string | null }
} = {
  400: { message: 'Bad request.', type: 'invalid_request_error', code: null },
  401: { message: 'Incorrect API key provided.', type: 'invalid_request_error', code: 'invalid_api_key' },
  403: { message: 'Your account is not active.', type: 'insufficient_permissions', code: 'account_deactivated' },
  404: {
    message: 'The model does not exist or you do not have access to it.',
    type: 'invalid_request_error',
    code: 'model_not_found',
  },
  429: { message: 'Rate limit reached.', type: 'requests', code: 'rate_limit_exceeded' },
  500: { message: 'The server had an error while processing your request.', type: 'server_error', code: null },
  503: { message: 'The engine is currently overloaded.', type: 'server_error', code: null },
}

/** Responds with this status: once if queued with `next`, always if set with `always`. */
export function status(code: number, options: StatusOptions = {}): Behaviour {
  return behaviour(`status ${code}`, (exchange) => {
    const retry: HeaderList = options.retryAfter === undefined ? [] : [['retry-after', String(options.retryAfter)]]
    const headers: HeaderList = [...retry, ...(options.headers ?? [])]
    const { shape = 'openai' } = options
    if (shape === 'openai') return sendJson(exchange, code, openAiError(code, options), headers)
    const [type, body] = BODIES[shape]
    return sendBody(exchange, code, body, [['content-type', type], ...headers])
  })
}

/** 429 because the account is out of credit. Waiting does not help, but using another key does. */
export function outOfQuota(): Behaviour {
  const message = 'You exceeded your current quota, please check your plan and billing details.'
  return status(429, { message, type: 'insufficient_quota', code: 'insufficient_quota' })
}

/** An error in OpenAI's format. */
export function openAiError(code: number, options: StatusOptions = {}): { error: { [key: string]: unknown } } {
  const usual = USUAL[code] ?? { message: `Error ${code}.`, type: 'server_error', code: null }
  const { message = usual.message, type = usual.type, code: named = usual.code } = options
  return { error: { message, type, param: null, code: named } }
}

/** An HTML page as load balancers send them. */
export const HTML_PAGE =
  '<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>'

const BODIES = {
  text: ['text/plain', 'upstream connect error or disconnect/reset before headers'],
  html: ['text/html', HTML_PAGE],
  empty: ['application/json', ''],
  broken: ['application/json', '{"error":{"message":"cut of'],
} as const
