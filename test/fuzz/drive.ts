import type { FuzzRequest } from './requests.ts'

/** A request that got a wrong response, with everything needed to send it again. */
export interface Fault {
  what: string
  number: number
  target: string
  role: string
  request: string
}

/** A request ready to be sent. */
export interface Shot {
  number: number
  target: string
  role: string
  request: FuzzRequest
  /** True if the call does not respond with an envelope (`{ success, message, data }`). */
  media: boolean
}

/** A request that has no response after this many milliseconds counts as hanging. */
const hangMs = 60_000
/** Matches internals that no response must reveal, such as source paths, stack frames and SQL. */
const leak =
  /\bat .+\.[jt]s:\d+|\bSQLITE_|\bsyntax error at\b|\bselect .+ from\b|\binsert into\b|node_modules|\bZodError\b/i
/** If a URL is longer than this number of characters, the server may close the connection without a response. */
const longAddress = 8_000

/** Sends the requests, several at a time, and returns those that got a wrong response. */
export async function fire(
  url: string,
  shots: readonly Shot[],
  lanes = 8,
): Promise<{ faults: Fault[]; statuses: Map<number, number> }> {
  const faults: Fault[] = []
  const statuses = new Map<number, number>()
  let next = 0
  const lane = async () => {
    for (let at = next++; at < shots.length; at = next++) {
      const shot = shots[at]
      if (!shot) continue
      const { status, what } = await sendOne(url, shot)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (what !== undefined)
        faults.push({ what, number: shot.number, target: shot.target, role: shot.role, request: shown(shot.request) })
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return { faults, statuses }
}

async function sendOne(url: string, { request, media }: Shot): Promise<{ status: number; what?: string }> {
  try {
    const { method, path, headers, body } = request
    const response = await fetch(url + path, {
      method,
      headers,
      ...(body !== undefined && { body }),
      redirect: 'manual',
      signal: AbortSignal.timeout(hangMs),
    })
    const text = await readAnswer(response)
    // Responses with files, responses to HEAD and the JSON schema of the configuration have no envelope.
    const isFree = media || method === 'HEAD' || /^\/api\/config\/schema\.json\/?$/.test(path.split('?')[0] ?? '')
    const what = faultOf(response, text, isFree)
    return { status: response.status, ...(what !== undefined && { what }) }
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError')
      return { status: 0, what: `no answer within ${hangMs} ms` }
    if (request.path.length > longAddress) return { status: 0 }
    return { status: 0, what: `no answer: ${String(error)}` }
  }
}

/** The text of a response. An event stream does not end by itself, so it is closed without being read. */
async function readAnswer(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text()
  await response.body?.cancel()
  return ''
}

function faultOf(response: Response, text: string, isFree: boolean): string | undefined {
  if (response.status >= 500) return `${response.status}: ${text.slice(0, 200)}`
  if (leak.test(text)) return `the answer tells too much: ${text.slice(0, 200)}`
  if (response.headers.get('x-injected') !== null) return 'a header was made by the caller'
  if (isFree || text === '') return undefined
  const type = response.headers.get('content-type') ?? ''
  if (!type.includes('json')) return type.includes('html') ? 'the answer is HTML' : undefined
  return isEnvelope(text) ? undefined : `the answer is no envelope: ${text.slice(0, 200)}`
}

/** `{ success, message }`, the error object of unknown paths, or the bare list of models. */
function isEnvelope(text: string): boolean {
  const answer = JSON.parse(text) as Record<string, unknown>
  if (typeof answer !== 'object' || answer === null) return false
  if (typeof answer['success'] === 'boolean') return typeof answer['message'] === 'string'
  return typeof answer['error'] === 'object' || answer['object'] === 'list'
}

function shown({ method, path, headers, body }: FuzzRequest): string {
  const { cookie: _, ...rest } = headers
  const sent = body === undefined ? '' : typeof body === 'string' ? body : Buffer.from(body).toString('hex')
  return `${method} ${path.slice(0, 300)} ${JSON.stringify(rest).slice(0, 300)} ${sent.slice(0, 500)}`
}
