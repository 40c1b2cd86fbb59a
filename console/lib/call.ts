import type * as z from 'zod/mini'
import type { Endpoint, Envelope } from '../../contract/api/endpoint.ts'
import { basePath } from './base-path.ts'
import { expireSession } from './expiry.ts'
import { isEnglish, loadAreas, text, textByKey } from './text.ts'
import { toast } from './toast.ts'

type Output<S> = S extends z.ZodMiniType ? z.output<S> : never

/** Query values in the types that pages use. Undefined values are not sent. A list repeats its parameter. */
type QueryOf<E extends Endpoint> = {
  [K in keyof Output<E['query']>]?: string | number | boolean | readonly string[] | undefined
}
type BodyOf<E extends Endpoint> = z.input<E['body']>
type ParamsOf<E extends Endpoint> = { [K in keyof Output<E['params']>]: string | number }

/** True for the type of an input that the endpoint does not have, which is an empty object. */
type IsEmpty<T> = string extends keyof T ? true : keyof T extends never ? true : false

/** The arguments of an endpoint, with only the parts that the endpoint has. */
export type CallInput<E extends Endpoint> = (IsEmpty<Output<E['params']>> extends true
  ? { params?: never }
  : { params: ParamsOf<E> }) &
  (IsEmpty<Output<E['query']>> extends true ? { query?: never } : { query?: QueryOf<E> }) &
  (IsEmpty<Output<E['body']>> extends true ? { body?: never } : { body: BodyOf<E> })

export interface CallOptions {
  signal?: AbortSignal | undefined
  /** If true, the calling code must show failures itself. A 401 response still ends the session. */
  quiet?: boolean
  /** Returns the message of the failure in the page's wording. It is called before the failure is shown and thrown. */
  words?(failure: CallError): string
}

/** A call that failed. `message` can be shown to the user unchanged. */
export class CallError extends Error {
  /**
   * `refused`: the server returned success = false. `http`: the status was not 2xx. `network`: there was no response.
   */
  readonly kind: 'refused' | 'http' | 'network'
  /** HTTP status; 0 if there was no response. */
  readonly status: number
  /** Id of the request in the server's log, if there is one. */
  readonly requestId: string | undefined
  /** What the server sent; undefined if there was no response. */
  readonly sent: Refused | undefined

  constructor(kind: CallError['kind'], message: string, status = 0, requestId?: string, sent?: Refused) {
    super(message)
    this.kind = kind
    this.status = status
    this.requestId = requestId
    this.sent = sent
  }
}

/**
 * The reason that the server sent: a text in English, with its code and values unless another service wrote the text.
 */
type Refused = Partial<Pick<Envelope<unknown>, 'message' | 'code' | 'values'>>

/**
 * The server's reason in the language of the page. `values` may replace the server's values. Undefined if the reason
 * has no code, or if the page is in English, which is the server's language.
 */
export function translated(
  { code, values }: Refused,
  instead: Readonly<Record<string, string>> = {},
): string | undefined {
  return code === undefined || isEnglish() ? undefined : textByKey(`refusal.${code}`, { ...values, ...instead })
}

/** The data of a response, and the fields next to it. */
export interface Answer<T> {
  data: T
  message: string
  /** Number of all rows of a list; undefined if the server does not report it. */
  total: number | undefined
  /** Number of rows that match the request. Undefined if the server reports only `total`. */
  matching: number | undefined
  /** If the server searched only the newest rows, the number of rows that it searched; otherwise undefined. */
  searched: number | undefined
}

/**
 * Calls an endpoint of the contract. Failures are thrown as CallError and, unless `quiet` is set, also shown to the
 * user. A 401 leads to the login page. An aborted call throws the signal's reason and shows nothing.
 */
export async function callFull<E extends Endpoint>(
  endpoint: E,
  input: CallInput<E>,
  options: CallOptions = {},
): Promise<Answer<Output<E['data']>>> {
  try {
    const response = await send(endpoint, input, options.signal)
    await wordsForFailures()
    return await read<E>(endpoint, response)
  } catch (error) {
    if (options.signal?.aborted) throw error
    await wordsForFailures()
    const failure = error instanceof CallError ? error : networkFailure(error)
    if (options.words) failure.message = options.words(failure)
    if (failure.status === 401) expireSession()
    else if (!options.quiet) showFailure(failure)
    throw failure
  }
}

/** Like `callFull`, for callers that need only the data. */
export async function call<E extends Endpoint>(
  endpoint: E,
  input: CallInput<E>,
  options?: CallOptions,
): Promise<Output<E['data']>> {
  return (await callFull(endpoint, input, options)).data
}

/** Path with its parameters and query, as sent to the server. */
export function addressOf<E extends Endpoint>(endpoint: E, input: CallInput<E>): string {
  const params: Record<string, unknown> = input.params ?? {}
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(input.query ?? {})) {
    for (const each of [value].flat()) if (each !== undefined) query.append(name, String(each))
  }
  const search = query.toString()
  return `${basePath}${path}${search === '' ? '' : `?${search}`}`
}

function send<E extends Endpoint>(endpoint: E, input: CallInput<E>, signal: AbortSignal | undefined) {
  const body = input.body === undefined ? {} : { body: JSON.stringify(input.body) }
  return fetch(addressOf(endpoint, input), {
    method: endpoint.method,
    credentials: 'same-origin',
    headers: { accept: 'application/json', ...(input.body !== undefined && { 'content-type': 'application/json' }) },
    ...body,
    ...(signal && { signal }),
  })
}

async function read<E extends Endpoint>(endpoint: E, response: Response): Promise<Answer<Output<E['data']>>> {
  const requestId = response.headers.get('x-oneapi-request-id') ?? undefined
  const json: unknown = await response.json().catch(() => undefined)
  const envelope = (typeof json === 'object' && json !== null ? json : {}) as Partial<Envelope<Output<E['data']>>>
  if (!response.ok) {
    const reason = await reasonOf(envelope)
    throw new CallError('http', httpMessage(response.status, reason), response.status, requestId, envelope)
  }
  if (json === undefined) throw new CallError('http', text('error.answer'), response.status, requestId)
  const count = (name: string) => {
    const told = response.headers.get(name)
    return told === null ? undefined : Number(told)
  }
  const rest = {
    message: envelope.message ?? '',
    total: count('x-total-count'),
    matching: count('x-matching-count'),
    searched: count('x-searched-count'),
  }
  if (endpoint.envelope === 'bare') return { data: json as Output<E['data']>, ...rest }
  if (envelope.success !== true) {
    const reason = (await reasonOf(envelope)) || text('error.refused')
    throw new CallError('refused', reason, response.status, requestId, envelope)
  }
  return { data: (endpoint.envelope === 'flat' ? json : envelope.data) as Output<E['data']>, ...rest }
}

/** The server's reason, translated. If the translation cannot be loaded, it is in English. */
async function reasonOf(refused: Refused): Promise<string | undefined> {
  if (refused.code === undefined || isEnglish()) return refused.message
  await loadAreas(['refusal']).catch(() => undefined)
  return translated(refused) ?? refused.message
}

function httpMessage(status: number, message: string | undefined): string {
  if (status === 429) return text('error.tooMany')
  if (status === 500) return text('error.server')
  if (status === 405) return text('error.demo')
  return message || text('error.http', { status })
}

/** Waits for the console's messages, because the response to the first call may arrive before they have loaded. */
async function wordsForFailures(): Promise<void> {
  await loadAreas(['common']).catch(() => undefined)
}

function networkFailure(error: unknown): CallError {
  const failure = new CallError('network', text('error.network'))
  failure.cause = error
  return failure
}

/** Shows a failure to the user. A 405 is shown as information, any other failure as an error. */
export function showFailure(failure: CallError): void {
  if (failure.status === 405) toast.info(failure.message)
  else
    toast.error(
      failure.message,
      failure.status >= 500 ? { detail: failure.requestId && text('error.request', { id: failure.requestId }) } : {},
    )
}
