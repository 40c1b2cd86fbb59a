/** An HTTP or HTTPS proxy in the form that the runtime's `fetch` accepts (Bun documentation, "fetch", "Proxy"). */
export interface ProxyServer {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The proxy at a URL. `login` is `name:password`, or '' if the proxy requires no login. */
export function proxyOf(url: string, login: string): ProxyServer {
  if (login === '') return { url }
  return { url, headers: { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` } }
}
