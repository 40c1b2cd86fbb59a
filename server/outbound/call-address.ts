import http, { type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'

/**
 * A call to one IP address of a URL's host. The caller has checked this address. The name is not resolved again,
 * because it could then resolve to another address.
 */
export interface AddressCall {
  url: URL
  address: string
  method: 'GET' | 'POST'
  headers: OutgoingHttpHeaders
  body?: string | undefined
  /** Trusted certificate authorities, which replace the default ones. */
  ca?: string | undefined
  signal: AbortSignal
}

/**
 * Makes the call and resolves with the response, whose body has not been read yet. Redirects are not followed. Rejects
 * if there is no response.
 */
export function callAddress(call: AddressCall): Promise<IncomingMessage> {
  const { url, address, method, headers, body, ca, signal } = call
  const isTls = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const request = {
    method,
    host: address,
    port: Number(url.port) || (isTls ? 443 : 80),
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, host: url.host, 'accept-encoding': 'identity' },
    agent: false,
    signal,
  }
  return new Promise((resolve, reject) => {
    const answered = (response: IncomingMessage) => {
      // The response may break off while its body is not being read. Without this listener, the error would end the
      // process.
      response.on('error', () => undefined)
      resolve(response)
    }
    const sent = isTls
      ? // The certificate must match the URL's host name, although the connection is made to the IP address.
        https.request({ ...request, ...(isIP(host) === 0 && { servername: host }), ...(ca && { ca }) }, answered)
      : http.request(request, answered)
    sent.on('error', reject)
    sent.end(body)
  })
}
