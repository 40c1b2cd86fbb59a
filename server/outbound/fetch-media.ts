import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { GatewayError } from '../errors.ts'
import { isPublicAddress } from '../lib/network/public-address.ts'
import { runningSignal } from '../lib/running-timer.ts'
import { unlessAborted } from '../lib/unless-aborted.ts'
import { callAddress } from './call-address.ts'
import { mediaTypeOf } from './media-type.ts'
import { type Resolve, systemResolve } from './metadata-guard.ts'

/** The content of a URL. `data` is encoded in base64. */
export interface FetchedMedia {
  readonly data: string
  readonly mediaType: string
}

/**
 * Fetches an image, a sound or a PDF from a URL that a caller sent. Rejects with GatewayError (400) if the URL is
 * refused, cannot be reached or has a different type of content. Aborting `signal` cancels the fetch.
 */
export type FetchMedia = (url: string, signal?: AbortSignal) => Promise<FetchedMedia>

/** Limits for one URL. `resolve`, `allows` and `ca` are set only by tests, which use local servers. */
export interface FetchMediaOptions {
  /** The time limit for everything, including lookups and redirects; default 10 seconds. */
  readonly timeoutMs?: number
  /** Maximum size in bytes; default 20 MiB. */
  readonly mostBytes?: number
  readonly resolve?: Resolve
  /** Whether an IP address may be called; by default, only addresses of the public internet may be. */
  readonly allows?: (address: string) => boolean
  /** Trusted certificate authorities, which replace the default ones. */
  readonly ca?: string
}

const defaultTimeoutMs = 10_000
const defaultMostBytes = 20 * 1024 * 1024
const mostRedirects = 5
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const mostUrlCharacters = 8_192
/** A name may have many addresses; only the first few are tried. */
const mostAddresses = 3

/**
 * Creates a function that fetches files from the public internet only. The resolved address is checked and then called
 * directly, so that the host cannot resolve to another address in between. The target of each redirect is checked like
 * the first URL.
 */
export function createFetchMedia(options: FetchMediaOptions = {}): FetchMedia {
  const { timeoutMs = defaultTimeoutMs } = options
  return async (url, leaving) => {
    const { signal: timer, end } = runningSignal(timeoutMs)
    const signal = leaving ? AbortSignal.any([timer, leaving]) : timer
    try {
      return await follow(url, options, signal)
    } catch (error) {
      if (error instanceof GatewayError) throw error
      throw refused(url, timer.aborted ? 'it did not respond in time' : 'it cannot be reached', error)
    } finally {
      end()
    }
  }
}

async function follow(first: string, options: FetchMediaOptions, signal: AbortSignal): Promise<FetchedMedia> {
  let url = first
  for (let count = 0; count <= mostRedirects; count++) {
    const target = targetOf(url)
    const addresses = await addressesOf(target, options, signal)
    const response = await callFirst(target, addresses, options, signal)
    const { statusCode = 0, headers } = response
    if (!redirects.has(statusCode)) return await read(target.href, response, options, signal)
    response.destroy()
    const { location } = headers
    if (!location || !URL.canParse(location, target.href)) throw refused(url, 'it redirects to nowhere')
    url = new URL(location, target).href
  }
  throw refused(first, 'it redirects too often')
}

/** Parses a URL. Throws GatewayError if its scheme is not http or https, or if it contains a username or password. */
function targetOf(text: string): URL {
  if (text.length > mostUrlCharacters || !URL.canParse(text)) throw refused('', 'it is no address')
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refused(text, 'it must begin with http or https')
  if (url.username !== '' || url.password !== '') throw refused(text, 'it holds a name or a password')
  return url
}

/**
 * The first few addresses of a host. Throws if one of its addresses must not be called. IPv4 addresses come first,
 * because not every network has IPv6.
 */
async function addressesOf(url: URL, options: FetchMediaOptions, signal: AbortSignal): Promise<string[]> {
  const { resolve = systemResolve, allows = isPublicAddress } = options
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const addresses = isIP(host) !== 0 ? [host] : await unlessAborted(resolve(host), signal)
  // All addresses must be allowed, because a private address among public ones is probably an attack.
  if (!addresses.every((address) => allows(address))) throw refused(url.href, 'it leads to a place that is not public')
  if (addresses.length === 0) throw refused(url.href, 'its name is not known')
  return [...addresses].sort((a, b) => isIP(a) - isIP(b)).slice(0, mostAddresses)
}

async function callFirst(
  url: URL,
  addresses: readonly string[],
  options: FetchMediaOptions,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  let last: unknown
  for (const address of addresses) {
    try {
      // The request contains no data of the caller except the URL.
      const headers = { accept: 'image/*, audio/*, application/pdf' }
      return await callAddress({ url, address, method: 'GET', headers, ca: options.ca, signal })
    } catch (error) {
      if (signal.aborted) throw error
      last = error
    }
  }
  throw last
}

async function read(
  url: string,
  response: IncomingMessage,
  { mostBytes = defaultMostBytes }: FetchMediaOptions,
  signal: AbortSignal,
): Promise<FetchedMedia> {
  const { statusCode, headers } = response
  try {
    if (statusCode !== 200) throw refused(url, `it answered with status ${statusCode}`)
    const encoding = headers['content-encoding'] ?? 'identity'
    if (encoding !== 'identity') throw refused(url, 'it answered in a compressed form')
    if (Number(headers['content-length']) > mostBytes) throw tooLarge(url, mostBytes)
    const bytes = await unlessAborted(readBytes(url, response, mostBytes), signal)
    const mediaType = mediaTypeOf(bytes, headers['content-type'] ?? '')
    if (!mediaType) throw refused(url, 'it is neither an image, nor a sound, nor a PDF')
    return { data: bytes.toString('base64'), mediaType }
  } finally {
    response.destroy()
  }
}

function readBytes(url: string, response: IncomingMessage, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  return new Promise((resolve, reject) => {
    response.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > mostBytes) reject(tooLarge(url, mostBytes))
      else chunks.push(chunk)
    })
    response.on('end', () =>
      response.complete ? resolve(Buffer.concat(chunks)) : reject(refused(url, 'its response was interrupted')),
    )
    response.on('error', reject)
    response.on('close', () => reject(refused(url, 'its response was interrupted')))
  })
}

function tooLarge(url: string, mostBytes: number): GatewayError {
  return refused(url, `it is larger than ${Math.floor(mostBytes / 1024)} KiB`)
}

/**
 * The error for a URL. Its message names the host, so that the caller knows which URL failed. The rest of the URL may
 * contain a secret, so it is not shown.
 */
function refused(url: string, why: string, cause?: unknown): GatewayError {
  const at = URL.canParse(url) ? ` at ${new URL(url).host}` : ''
  return new GatewayError('invalid_field_value', `the file${at} cannot be fetched: ${why}`, { cause })
}
