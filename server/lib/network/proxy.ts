/** An HTTP or HTTPS proxy in the form that the runtime's `fetch` takes (Bun documentation, "fetch", "Proxy"). */
export interface ProxyServer {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The proxy at this URL. `login` is `name:password`, or '' if the proxy asks for none. */
export function proxyOf(url: string, login: string): ProxyServer {
  if (login === '') return { url }
  return { url, headers: { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` } }
}
