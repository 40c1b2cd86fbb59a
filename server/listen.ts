import type { Config } from './config.ts'
import { webSockets } from './http/web-sockets.ts'
import type { SocketSession } from './lib/network/socket-session.ts'

export type Server = Bun.Server<SocketSession>

/**
 * Starts the HTTP server on the configured port. If that is not possible, throws an error whose message tells the
 * operator what to do. `isShared` allows several processes to open the same port.
 */
export function listen(
  { port, host, idleTimeoutSeconds }: Config,
  isShared: boolean,
  fetch: (request: Request, server: Server) => Response | Promise<Response>,
  report: (error: unknown) => void = () => undefined,
): Server {
  try {
    return Bun.serve({
      port,
      hostname: host,
      // By default, the runtime turns development mode on unless NODE_ENV is `production`. The image sets NODE_ENV, but
      // `npm start` does not.
      development: false,
      reusePort: isShared,
      // This limit applies to connections without a request in progress. Requests in progress have their own limits.
      idleTimeout: idleTimeoutSeconds,
      // The relay returns 413 itself, at a limit that is set by an option.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch,
      websocket: webSockets,
      error: (error) => {
        report(error)
        return Response.json(
          {
            error: { message: 'an internal error occurred', type: 'one_api_error', param: '', code: 'internal_error' },
          },
          { status: 500 },
        )
      },
    })
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'EADDRINUSE') throw new Error(`port ${port} is in use by another program; set PORT to a free one`)
    if (code === 'EACCES') throw new Error(`port ${port} may not be used by this account; set PORT to one above 1023`)
    // ENOENT: an unknown name; EINVAL: a name that cannot be looked up.
    if (code === 'EADDRNOTAVAIL' || code === 'ENOENT' || code === 'EINVAL')
      throw new Error(`HOST is "${host}", which is not an address of this machine`)
    throw error
  }
}
