import { GatewayError } from '../../errors.ts'
import type { Upgrade } from '../../lib/network/socket-session.ts'
import { requestIdHeader } from '../../lib/secrets/ids.ts'
import { authenticate, credentialOf, protocolsOf } from '../admission/authenticate.ts'
import { type RelayRouteDeps, serveCaller } from '../admission/serve-caller.ts'
import { throughChannels, toFailure } from '../attempts/through-channels.ts'
import type { MakeAttempt } from '../attempts/trial.ts'
import { noteAttempt } from '../call/attempts.ts'
import type { SessionCall } from '../call/call.ts'
import { type Caller, requireModel } from '../call/caller.ts'
import { planOf, seedOf } from '../call/plan.ts'
import { viaFor } from '../call/via.ts'
import { Leaving } from '../cancellation/caller-left.ts'
import { AttemptFailed } from '../failures/retry-policy.ts'
import { failedAttempt, reasonOf, statusFailure } from '../failures/upstream-failure.ts'
import { forwardedHeaders } from '../headers/relay-headers.ts'
import { describeRequest } from '../request/describe-request.ts'
import type { Incoming } from '../request/incoming.ts'
import { type Channel, mappedModel } from '../routing/routing-table.ts'
import { withHeaders, withStatus } from '../upstream/carry.ts'
import { patienceOf } from '../upstream/time-limits.ts'
import { RealtimeSession } from './session.ts'
import type { RealtimeSessions } from './sessions.ts'
import { nameUpgrade, upgradeFor } from './upgrading.ts'
import { openSocket, SocketFailure, type UpstreamSocket } from './upstream-socket.ts'

/** The maximum length of a message from an upstream, in bytes. */
const mostBytes = 16 * 1024 * 1024

export interface RealtimeDeps extends RelayRouteDeps {
  sessions: RealtimeSessions
}

/**
 * Serves `GET /v1/realtime?model=…`. Checks the caller as for every call, opens a WebSocket to a channel, and only then
 * upgrades the request. A failure before the upgrade is returned as an HTTP error. `upgrade` is absent if the server
 * cannot upgrade.
 */
export async function serveRealtime(
  deps: RealtimeDeps,
  incoming: Incoming,
  upgrade: Upgrade | undefined,
): Promise<Response> {
  const response = await serveCaller(deps, incoming, async (caller) => {
    const opening = upgradeFor(incoming.request, upgrade)
    const startedAtMs = deps.relay.clock.nowMs()
    const model = new URL(incoming.request.url).searchParams.get('model') ?? ''
    incoming.failed = { call: undefined, model, startedAtMs }
    const call = sessionCall(deps, incoming, caller, startedAtMs)
    incoming.failed.call = call
    try {
      return await throughChannels(deps.relay, call, attemptWith(deps, incoming, opening))
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'token_exhausted') deps.exhausted(caller.tokenId)
      throw error
    } finally {
      call.leaving.close()
    }
  })
  return nameUpgrade(response)
}

/** The session, treated as a call. Its prompt is not known in advance, and may be audio. */
function sessionCall({ relay }: RealtimeDeps, incoming: Incoming, caller: Caller, startedAtMs: number): SessionCall {
  const { request, requestId } = incoming
  const query = new URL(request.url).searchParams
  const model = query.get('model') ?? ''
  if (query.get('intent') === 'transcription')
    throw new GatewayError('api_not_implemented', 'transcription-only sessions are not supported by this gateway')
  if (query.has('call_id'))
    throw new GatewayError('api_not_implemented', 'joining a call in progress is not supported by this gateway')
  if (model === '') throw new GatewayError('required_field_missing', 'model is missing', { param: 'model' })
  if (query.getAll('model').length > 1)
    throw new GatewayError('invalid_field_value', 'model appears twice in the request', { param: 'model' })
  const plan = planOf({ routing: relay.routing(), caller, seed: seedOf(requestId) }, model)
  if (!plan) requireModel(caller, model)
  const { signal } = request
  return {
    requestId,
    mode: 'realtime',
    dialect: 'openai-chat',
    path: '/v1/realtime',
    caller,
    facts: {
      model,
      stream: true,
      wantsStreamUsage: true,
      maxTokens: undefined,
      choices: 1,
      prompt: { texts: [], fixedTokens: 0, hasMedia: true },
    },
    headers: { ...betaOf(request.headers), ...forwardedHeaders(request.headers, 'openai-chat') },
    signal,
    leaving: new Leaving(signal),
    startedAtMs,
    arrivedAtMs: relay.deadlineWatch.nowMs(),
    ...(plan && { plan }),
    described: describeRequest(incoming),
    state: { body: { kind: 'json', text: '', json: {} }, conversation: undefined, promptGuess: 0, attempts: [] },
  }
}

/** Returns a function that repeats the initial checks, because a session may last for an hour. */
function checkAgain(deps: RealtimeDeps, { request, address }: Incoming, model: string): () => Promise<void> {
  // The request can no longer be read once it has become a WebSocket.
  const [credential, from] = [credentialOf(request, 'openai-chat'), address()]
  return async () => {
    const caller = await authenticate(deps.authenticate, credential, () => from)
    if (!planOf({ routing: deps.relay.routing(), caller }, model)) requireModel(caller, model)
  }
}

/** Browsers send the API version as a subprotocol: `openai-beta.realtime-v1` means `OpenAI-Beta: realtime=v1`. */
function betaOf(headers: Headers): Record<string, string> {
  const prefix = 'openai-beta.'
  const protocol = protocolsOf(headers).find((each) => each.startsWith(prefix))
  return protocol === undefined ? {} : { 'openai-beta': protocol.slice(prefix.length).replace('-', '=') }
}

/**
 * Headers of the response to the upgrade. `realtime` is the only real subprotocol among those that clients offer. The
 * others contain keys and flags.
 */
function answerHeaders({ request, requestId }: Incoming): Record<string, string> {
  const hasRealtime = protocolsOf(request.headers).includes('realtime')
  return { [requestIdHeader]: requestId, ...(hasRealtime && { 'sec-websocket-protocol': 'realtime' }) }
}

function attemptWith(deps: RealtimeDeps, incoming: Incoming, upgrade: Upgrade): MakeAttempt<SessionCall> {
  const headers = answerHeaders(incoming)
  return async (relay, call, { hold, charging, channel }) => {
    const sentAtMs = relay.deadlineWatch.nowMs()
    try {
      const upstreamModel = mappedModel(channel, call.facts.model)
      const upstream = await connect(deps, call, channel, upstreamModel)
      const open = { call, hold, charging, channel, upstreamModel, systemPromptReset: false }
      const check = checkAgain(deps, incoming, call.plan?.name ?? call.facts.model)
      const session = new RealtimeSession({ deps: relay, open, upstream, sessions: deps.sessions, check })
      if (call.signal.aborted || !upgrade(session, headers)) {
        upstream.close(1001, '')
        throw new GatewayError('do_request_failed', 'the client disconnected before the session began')
      }
      noteAttempt(relay, open, { sentAtMs, status: 101 })
      hold.handOver()
      // Nobody reads this response, because the connection is already a WebSocket.
      return new Response(null)
    } catch (error) {
      const failed = error instanceof AttemptFailed ? error : toFailure(error)
      const reason = reasonOf(failed, channel.upstream.key)
      noteAttempt(relay, { call, channel }, { sentAtMs, status: failed.status, error: reason })
      return failed
    }
  }
}

/** Opens the WebSocket to a channel. Throws GatewayError and AttemptFailed. */
async function connect(
  { relay }: RealtimeDeps,
  call: SessionCall,
  channel: Channel,
  model: string,
): Promise<UpstreamSocket> {
  const plain = channel.carries?.proxy ? undefined : channel.provider.realtime?.(channel.upstream, model)
  const target = plain && channel.carries ? withHeaders(plain, channel.carries) : plain
  if (!target) {
    const { label } = channel.provider.meta
    throw new GatewayError('mode_not_supported', `channel type ${label} does not support ${call.path}`)
  }
  const patience = patienceOf(channel, relay.settings())
  const controller = new AbortController()
  call.leaving.onLeave(() => controller.abort())
  try {
    await relay.guard.check(target.url.replace(/^ws/, 'http'))
    const answer = await openSocket({
      url: target.url,
      headers: { ...call.headers, ...viaFor(relay, call, channel), ...target.headers },
      signal: controller.signal,
      connectTimeoutMs: patience.connectTimeoutMs,
      answerTimeoutMs: patience.firstByteTimeoutMs,
      mostBytes,
      nowMs: () => relay.deadlineWatch.nowMs(),
    })
    if (!(answer instanceof Response)) return answer
    if (answer.ok) {
      const error = new GatewayError('bad_response_body', 'the upstream did not open a WebSocket')
      throw failedAttempt(error, answer.status)
    }
    const judged = channel.carries ? withStatus(answer, channel.carries) : answer
    throw statusFailure(judged, await judged.text(), channel.upstream.key, relay.clock.nowMs())
  } catch (error) {
    if (error instanceof AttemptFailed) throw error
    const isTimeout = error instanceof SocketFailure && error.isTimeout
    if (isTimeout) throw new GatewayError('upstream_timeout', error.message)
    throw new GatewayError('do_request_failed', 'the request to the upstream failed', { cause: error })
  } finally {
    call.leaving.onLeave(undefined)
  }
}
