import { enginePath, realtimePath } from '../../../contract/relay-paths.ts'
import type { RequestFacts } from '../../dialects/neutral/dialect.ts'
import type { CallBody } from '../call/call.ts'
import { type CallDescription, describedAs, type StoredDescription } from '../call/call-description.ts'
import { type CallRoute, callRouteOf } from '../call/call-routes.ts'
import { clientOf } from './client-of.ts'
import { parametersOf } from './parameters-of.ts'

/** A request as it arrived, and the model named in its path. */
interface Arrived {
  request: Request
  pathModel?: string
}

/** How a call was made: its endpoint, its dialect, its client and those parameters that are not content. */
export function describeCall(
  incoming: Arrived,
  route: CallRoute,
  body: CallBody,
  facts: RequestFacts,
): CallDescription {
  const description = outside(incoming, route)
  description.with = parametersOf(route, body, facts)
  return describedAs(description)
}

/** Like `describeCall`, but for a request that has no body or whose body could not be read. */
export function describeRequest(incoming: Arrived): CallDescription {
  return describedAs(outside(incoming, callRouteOf(incoming.request.url)))
}

function outside({ request, pathModel }: Arrived, route: CallRoute | undefined): StoredDescription {
  const path = pathModel === undefined ? pathOf(request, route) : enginePath
  const client = clientOf(request.headers.get('user-agent'))
  // OpenAI's other calls have no dialect of their own.
  const hasDialect = route !== undefined && (route.mode === 'chat' || route.dialect !== 'openai-chat')
  // Fields without a value are not in the JSON of a description.
  return { path, from: hasDialect ? route.dialect : undefined, client }
}

/** The path as written in the gateway's own tables, because the URL itself may contain any text. */
function pathOf({ method, url }: Request, route: CallRoute | undefined): string | undefined {
  if (route)
    return route.proxyChannel === undefined ? route.path : `/v1/oneapi/proxy/${route.proxyChannel}${route.path}`
  return method === 'GET' && new URL(url).pathname.replace(/\/$/, '') === realtimePath ? realtimePath : undefined
}
