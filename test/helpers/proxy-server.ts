import { createServer, type IncomingMessage, request as sendRequest } from 'node:http'
import { type AddressInfo, connect } from 'node:net'

/** An HTTP proxy that records its requests. */
export interface ProxyServer extends AsyncDisposable {
  url: string
  /** The method and the URL, or the host and port, of each request. */
  asked: string[]
  /** The `proxy-authorization` header of each request. */
  logins: (string | undefined)[]
}

/** Starts a proxy on this machine. With a `login` (`name:password`), it refuses requests that do not present it. */
export async function startProxy(login?: string): Promise<ProxyServer> {
  const asked: string[] = []
  const logins: (string | undefined)[] = []
  const admits = (request: IncomingMessage) => {
    asked.push(`${request.method} ${request.url}`)
    const given = request.headers['proxy-authorization']
    logins.push(given)
    return login === undefined || given === `Basic ${Buffer.from(login).toString('base64')}`
  }
  const server = createServer((request, response) => {
    if (!admits(request)) {
      response.writeHead(407, { 'proxy-authenticate': 'Basic' }).end()
      return
    }
    const { 'proxy-authorization': _login, 'proxy-connection': _connection, ...headers } = request.headers
    const onward = sendRequest(request.url ?? '', { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  })
  server.on('connect', (request, socket) => {
    if (!admits(request)) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
      return
    }
    const [host = '', port = '443'] = (request.url ?? '').split(':')
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      onward.pipe(socket).pipe(onward)
    })
    onward.on('error', () => socket.destroy())
    socket.on('error', () => onward.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    logins,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
