import { APIError } from 'openai'

/** How an SDK call ended: the value that it returned, and the error that it threw, in a comparable form. */
export interface Outcome {
  value: unknown
  error: ErrorView | undefined
}

/**
 * The fields of an error that a client can read. Messages are compared separately because the gateway adds the request
 * id.
 */
interface ErrorView {
  name: string
  status: number | undefined
  code: unknown
  type: unknown
  param: unknown
  message: string
  retryAfter: string | null | undefined
}

/** Runs a call and keeps what it returned or threw. */
export async function outcomeOf(run: () => Promise<unknown>): Promise<Outcome> {
  try {
    return { value: plain(await run()), error: undefined }
  } catch (error) {
    return { value: undefined, error: viewOf(error) }
  }
}

/** Collects everything that a stream yields. If there is an error, the items before it are kept. */
export async function collected(open: () => Promise<AsyncIterable<unknown>>): Promise<Outcome & { value: unknown[] }> {
  const value: unknown[] = []
  try {
    for await (const item of await open()) value.push(plain(item))
    return { value, error: undefined }
  } catch (error) {
    return { value, error: viewOf(error) }
  }
}

/** The format of the gateway's own ids, which the SDK gets if an upstream sends none. */
const ownId = /^\d{20,}$/

/**
 * The value's own data, without methods and prototypes. The SDK's `_request_id` is not enumerable, so it is added by
 * name, unless it is an id of the gateway.
 */
function plain(value: unknown): unknown {
  const copy = value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown)
  const id = typeof value === 'object' && value !== null ? (value as { _request_id?: unknown })._request_id : undefined
  return typeof id === 'string' && !ownId.test(id) ? { ...(copy as object), _request_id: id } : copy
}

function viewOf(error: unknown): ErrorView {
  if (!(error instanceof Error)) throw error
  const view = { name: error.constructor.name, message: error.message }
  if (!(error instanceof APIError))
    return { ...view, status: undefined, code: undefined, type: undefined, param: undefined, retryAfter: undefined }
  const { status, code, type, param, headers } = error
  return { ...view, status, code, type, param, retryAfter: headers?.get('retry-after') }
}
