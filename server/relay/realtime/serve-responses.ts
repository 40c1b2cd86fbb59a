import { GatewayError } from '../../errors.ts'
import type { Upgrade } from '../../lib/network/socket-session.ts'
import { requestId as newId, requestIdHeader } from '../../lib/secrets/ids.ts'
import { credentialOf } from '../admission/authenticate.ts'
import { serveCaller } from '../admission/serve-caller.ts'
import { ownHeaders } from '../headers/relay-headers.ts'
import type { Incoming } from '../request/incoming.ts'
import { ResponsesSession, type ServeTurn } from './responses-session.ts'
import type { RealtimeDeps } from './serve-realtime.ts'
import { nameUpgrade, upgradeFor } from './upgrading.ts'

const dialect = 'openai-responses'

/** Headers that belong to the connection or to the upgrade request, not to a turn. */
const ofConnection =
  /^(?:connection|upgrade|keep-alive|te|trailer|transfer-encoding|content-.*|host|cookie|sec-websocket-.*|accept-encoding)$/

/** Makes a call as if its body had been sent by POST. */
export type ServeCall = (incoming: Incoming) => Promise<Response>

/**
 * Serves `GET /v1/responses`. Upgrades the request to a WebSocket over which responses are created. The caller is
 * checked before the upgrade and for each turn. A refusal before the upgrade is an HTTP error.
 */
export async function serveResponses(
  deps: RealtimeDeps,
  incoming: Incoming,
  upgrade: Upgrade | undefined,
  serve: ServeCall,
): Promise<Response> {
  const response = await serveCaller(
    deps,
    incoming,
    async ({ tokenId }) => {
      const opening = upgradeFor(incoming.request, upgrade)
      const most = deps.relay.settings().ResponsesSocketLimit
      const released = deps.sessions.claim(tokenId, most)
      if (!released)
        throw new GatewayError(
          'rate_limit_exceeded',
          `this token already has ${most} open connections: close one, or send requests by POST`,
          { retryAfterSeconds: 30 },
        )
      const { relay, sessions } = deps
      const session = new ResponsesSession({
        serve: turnsOf(deps, incoming, serve),
        sessions,
        watch: relay.deadlineWatch,
        nowMs: () => relay.clock.nowMs(),
        warn: (message) => relay.events.warning(`${incoming.requestId}: ${message}`),
        released,
      })
      if (!opening(session, { [requestIdHeader]: incoming.requestId })) {
        released()
        throw new GatewayError('do_request_failed', 'the client disconnected before the session began')
      }
      // Nobody reads this response, because the connection is already a WebSocket.
      return new Response(null, { headers: ownHeaders({ requestId: incoming.requestId, dialect }) })
    },
    dialect,
  )
  return nameUpgrade(response)
}

/** The request can no longer be read once it has become a WebSocket, so its parts are read now. */
function turnsOf({ relay }: RealtimeDeps, incoming: Incoming, serve: ServeCall): ServeTurn {
  const { request, address } = incoming
  const from = address()
  const { origin, pathname } = new URL(request.url)
  const headers = new Headers([...request.headers].filter(([name]) => !ofConnection.test(name)))
  headers.set('authorization', credentialOf(request, dialect) ?? '')
  headers.set('content-type', 'application/json')
  return async (text, complete, signal) => {
    const id = newId(relay.clock.nowMs())
    const body = Buffer.from(text)
    const own = new Headers(headers)
    own.set('content-length', String(body.length))
    const turn = new Request(origin + pathname, { method: 'POST', headers: own, body, signal })
    return { id, response: await serve({ request: turn, requestId: id, address: () => from, complete }) }
  }
}
