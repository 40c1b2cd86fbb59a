import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { readAtMost } from '../lib/bytes/read-at-most.ts'
import { fetchPlain } from '../lib/network/fetch-plain.ts'
import { isPublicAddress } from '../lib/network/public-address.ts'
import { runningSignal } from '../lib/running-timer.ts'
import { unlessAborted } from '../lib/unless-aborted.ts'
import { callAddress } from './call-address.ts'
import { leadsToMetadata, type Resolve, systemResolve } from './metadata-guard.ts'

/** A message for a service, as an HTTP request with a JSON body. */
export interface OutgoingMessage {
  url: string
  body: string
  headers?: Readonly<Record<string, string>>
}

/** The response of a service. Redirects are not followed, so `status` may be that of a redirect. */
export interface MessageAnswer {
  status: number
  /** The beginning of the body. */
  text: string
}

/**
 * The person who chose the URL. The services of an operator may be in a private network. A user can reach only the
 * public internet.
 */
export type ChosenBy = 'operator' | 'user'

/**
 * Sends a message to a URL that a person entered. Throws an error that describes the failure but does not contain the
 * URL, because the URL may contain a secret.
 */
export type PostMessage = (message: OutgoingMessage, chosenBy: ChosenBy) => Promise<MessageAnswer>

/** The time limit, and options for tests, which use local servers. */
export interface PostMessageOptions {
  readonly timeoutMs?: number
  readonly resolve?: Resolve
  /** Whether users may reach an IP address. By default, they can reach only addresses of the public internet. */
  readonly allows?: (address: string) => boolean
  /** Trusted certificate authorities, which replace the default ones. */
  readonly ca?: string
}

const defaultTimeoutMs = 8_000
const mostAnswerBytes = 4096
/** A name may have many addresses; only the first few are tried. */
const mostAddresses = 3

/** A failure whose message may be shown to the person who set the URL. */
class PostError extends Error {}

export function createPostMessage(options: PostMessageOptions = {}): PostMessage {
  return async (message, chosenBy) => {
    const { signal, end } = runningSignal(options.timeoutMs ?? defaultTimeoutMs)
    try {
      const url = targetOf(message.url)
      return chosenBy === 'user'
        ? await postPublic(url, message, options, signal)
        : await postAnywhere(url, message, options, signal)
    } catch (error) {
      if (error instanceof PostError) throw error
      if (signal.aborted) throw new PostError('The service did not respond in time.')
      const code = (error as NodeJS.ErrnoException).code
      throw new PostError(`The service cannot be reached${code ? ` (${code})` : ''}.`)
    } finally {
      end()
    }
  }
}

function targetOf(text: string): URL {
  if (!URL.canParse(text)) throw new PostError('The URL is not valid.')
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new PostError('The URL must begin with http:// or https://.')
  if (url.username !== '' || url.password !== '') throw new PostError('The URL must not contain a name or a password.')
  return url
}

const headersOf = ({ headers, body }: OutgoingMessage) => ({
  'content-type': 'application/json; charset=utf-8',
  'content-length': String(Buffer.byteLength(body)),
  'user-agent': 'tollgate',
  ...headers,
})

/** Posts to any host except the metadata service of a cloud. */
async function postAnywhere(
  url: URL,
  message: OutgoingMessage,
  { resolve = systemResolve }: PostMessageOptions,
  signal: AbortSignal,
): Promise<MessageAnswer> {
  if (await unlessAborted(leadsToMetadata(url.hostname, resolve), signal))
    throw new PostError('The URL leads to the metadata service of a cloud.')
  const response = await fetchPlain(url.href, {
    method: 'POST',
    headers: headersOf(message),
    body: message.body,
    redirect: 'manual',
    keepalive: false,
    signal,
  })
  const text = await readAtMost(response.body, mostAnswerBytes, () => new PostError('The response is too long.')).catch(
    () => Buffer.alloc(0),
  )
  return { status: response.status, text: text.toString() }
}

/**
 * Posts only to hosts of the public internet. The resolved address is checked and then called directly, so that the
 * host cannot resolve to another address in between.
 */
async function postPublic(
  url: URL,
  message: OutgoingMessage,
  options: PostMessageOptions,
  signal: AbortSignal,
): Promise<MessageAnswer> {
  const { resolve = systemResolve, allows = isPublicAddress } = options
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const found = isIP(host) !== 0 ? [host] : await unlessAborted(resolve(host), signal).catch(() => [])
  if (found.length === 0) throw new PostError('The host name could not be resolved.')
  // All addresses must be allowed, because a private address among public ones is probably an attack.
  if (!found.every((address) => allows(address))) throw new PostError('The URL leads to an address that is not public.')
  const addresses = [...found].sort((a, b) => isIP(a) - isIP(b)).slice(0, mostAddresses)
  let last: unknown
  for (const address of addresses) {
    try {
      const response = await callAddress({
        url,
        address,
        method: 'POST',
        headers: headersOf(message),
        body: message.body,
        ca: options.ca,
        signal,
      })
      return { status: response.statusCode ?? 0, text: await beginningOf(response, signal) }
    } catch (error) {
      if (signal.aborted) throw error
      last = error
    }
  }
  throw last
}

/** Reads the beginning of a body. The rest is not read. */
async function beginningOf(response: IncomingMessage, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = []
  const read = new Promise<void>((resolve) => {
    let size = 0
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size >= mostAnswerBytes) resolve()
    })
    for (const end of ['end', 'error', 'close'] as const) response.on(end, () => resolve())
  })
  await unlessAborted(read, signal).finally(() => response.destroy())
  return Buffer.concat(chunks).subarray(0, mostAnswerBytes).toString()
}
