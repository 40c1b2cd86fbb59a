import { GatewayError } from '../../errors.ts'
import { JsonBytes } from '../../lib/json-bytes.ts'
import { through } from '../../outbound/fetch-json.ts'
import {
  type AccessTokens,
  type ChatEndpoint,
  chatEndpointFor,
  type ModeEndpoint,
  type Target,
  type UpstreamCall,
} from '../../providers/provider.ts'
import type { RelayCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import { viaOf } from '../call/via.ts'
import { CallerLeft } from '../cancellation/caller-left.ts'
import { shuttingDown } from '../cancellation/shutting-down.ts'
import { isOfCodex } from '../headers/relay-headers.ts'
import type { Channel } from '../routing/routing-table.ts'
import { withHeaders, withParameters, withStatus } from './carry.ts'
import { type Attempting, jsonTextOf, type Prepared, prepare } from './prepare.ts'
import { type Conversing, prepareConversation } from './prepare-conversation.ts'
import { leftUnsent, send } from './send.ts'
import type { Patience } from './time-limits.ts'

/** The request that was sent, and the head of the response, whatever its status. */
interface Exchange {
  prepared: Prepared
  response: Response
}

/**
 * Returns the endpoints of a channel that a call can use, the best one first. An endpoint for the caller's dialect
 * comes before the general endpoint, which serves callers of all other dialects. Throws GatewayError if the channel's
 * provider does not support the call.
 */
export function endpointsOf(
  deps: Pick<RelayDeps, 'unsupportedFeatures'>,
  call: RelayCall,
  channel: Channel,
  upstreamModel: string,
): [ChatEndpoint | ModeEndpoint, ...(ChatEndpoint | ModeEndpoint)[]] {
  const { provider, upstream } = channel
  if (call.mode !== 'chat') {
    const endpoint = provider.modes[call.mode]
    if (endpoint) return [endpoint]
  } else {
    const all = provider.chat(upstream, upstreamModel)
    const best = chatEndpointFor(all, call.dialect)
    const [general] = all
    if (best && general && best !== general)
      return deps.unsupportedFeatures.has(endpointFeature(channel, best)) ? [general] : [best, general]
    if (best) return [best]
  }
  throw new GatewayError('mode_not_supported', `channel type ${provider.meta.label} does not support ${call.path}`)
}

/** Statuses that may mean that a server does not have the endpoint. */
const noSuchEndpoint: ReadonlySet<number> = new Set([404, 405, 501])

/** True for a status that may mean that the service does not support a dialect. */
export function mayBeMissing(status: number): boolean {
  return noSuchEndpoint.has(status)
}

/** The name under which a channel's endpoint is stored in the list of unsupported features. */
export function endpointFeature(channel: Channel, endpoint: ChatEndpoint): string {
  return `${channel.id} ${channel.upstream.baseUrl} ${endpoint.dialect.name}`
}

/** True for a conversation endpoint. */
export function isChat(endpoint: ChatEndpoint | ModeEndpoint): endpoint is ChatEndpoint {
  return 'dialect' in endpoint
}

/**
 * Converts a call into the form that providers use. If the service cannot stream, the gateway requests a complete
 * response and sends it to the caller as a stream.
 */
export function upstreamCallOf(
  { mode, path, facts }: RelayCall,
  endpoint: ChatEndpoint | ModeEndpoint,
  model: string,
): UpstreamCall {
  const canStream = !(isChat(endpoint) && endpoint.lacks?.includes('streaming'))
  return { mode, path, model, stream: facts.stream && canStream }
}

/** Sends a call to one endpoint of its channel. Throws GatewayError, AttemptFailed and CallerLeft. */
export async function askAt(
  deps: RelayDeps,
  question: Omit<Attempting, 'upstreamCall'>,
  patience: Patience,
): Promise<Exchange> {
  const upstreamCall = upstreamCallOf(question.call, question.endpoint, question.upstreamModel)
  const attempting = { ...question, upstreamCall }
  const prepared = await prepareCall(deps, attempting)
  return { prepared, response: await callUpstream(deps, attempting, prepared, patience) }
}

/** Prepares a call for one endpoint. Throws GatewayError (possibly synchronously) and AttemptFailed. */
export function prepareCall(deps: RelayDeps, attempting: Attempting): Prepared | Promise<Prepared> {
  const prepared = isConversing(attempting) ? prepareConversation(deps, attempting) : prepare(attempting)
  const { carries } = attempting.channel
  if (!carries?.parameters) return prepared
  return prepared instanceof Promise
    ? prepared.then((each) => withParameters(each, carries))
    : withParameters(prepared, carries)
}

function isConversing(attempting: Attempting): attempting is Conversing {
  return isChat(attempting.endpoint)
}

/**
 * Sends a prepared call. Resolves with the head of the response, whatever its status. Throws GatewayError (possibly
 * synchronously) and CallerLeft.
 */
export function callUpstream(
  deps: RelayDeps,
  attempting: Attempting,
  prepared: Prepared,
  patience: Patience,
): Promise<Response> {
  const { call, channel, endpoint, upstreamCall, lent } = attempting
  // True if the service itself compacts the conversation. If the gateway asks the model for a summary instead, the
  // response is always translated, so `codec.to` is set.
  const isCompaction = call.compacts === 'call' && prepared.codec !== undefined && !prepared.codec.to
  const pendingTarget = targetFor(deps, endpoint, channel, upstreamCall, prepared.body, lent, isCompaction)
  const answer =
    pendingTarget instanceof Promise
      ? pendingTarget.then((target) => callTarget(deps, attempting, target, prepared, patience))
      : callTarget(deps, attempting, pendingTarget, prepared, patience)
  const { carries } = channel
  const judged = carries?.statuses ? answer.then((response) => withStatus(response, carries)) : answer
  if (!endpoint.read) return judged
  return judged.then((response) => (response.ok && endpoint.read ? endpoint.read(response, upstreamCall) : response))
}

function callTarget(
  deps: RelayDeps,
  attempting: Attempting,
  target: Target,
  prepared: Prepared,
  patience: Patience,
): Promise<Response> {
  const { call, channel, endpoint } = attempting
  const { carries } = channel
  if (endpoint.open)
    return opened(deps, attempting, carries ? withHeaders(target, carries) : target, prepared, patience)
  const forwarded = withForwarded(target, call, endpoint)
  return send({
    target: carries ? withHeaders(forwarded, carries) : forwarded,
    headers: headersFor(call, prepared),
    via: viaOf(deps, call, channel),
    contentType: prepared.contentType,
    body: prepared.body instanceof JsonBytes ? prepared.body.bytes : prepared.body,
    contentLength: prepared.contentLength,
    connectTimeoutMs: patience.connectTimeoutMs,
    firstByteTimeoutMs: patience.firstByteTimeoutMs,
    httpVersion: channel.httpVersion,
    proxy: carries?.proxy,
    guard: deps.guard,
    leaving: call.leaving,
    watch: deps.deadlineWatch,
  })
}

function targetFor(
  deps: RelayDeps,
  endpoint: ChatEndpoint | ModeEndpoint,
  channel: Channel,
  call: UpstreamCall,
  body: Prepared['body'],
  lent: Attempting['lent'],
  isCompaction = false,
): Target | Promise<Target> {
  const signing = {
    body: typeof body === 'string' ? body : '',
    nowMs: deps.clock.nowMs(),
    tokens: lent ? lending(deps.accessTokens, lent) : deps.accessTokens,
    fetchJson: through(deps.fetchJson, channel.carries?.proxy),
  }
  if (body instanceof JsonBytes) Object.defineProperty(signing, 'body', { get: () => body.text, enumerable: true })
  const compacting =
    isCompaction && isChat(endpoint) ? endpoint.compactTarget?.(channel.upstream, call, signing) : undefined
  return compacting ?? endpoint.target(channel.upstream, call, signing)
}

/**
 * Wraps the cache so that `lent` records the upstream tokens that it returns. A token that is newly requested for this
 * call is not recorded, because only a cached token can be out of date.
 */
function lending(tokens: AccessTokens, lent: Map<string, string>): AccessTokens {
  return {
    async get(name, make) {
      let isNew = false
      const value = await tokens.get(name, () => {
        isNew = true
        return make()
      })
      if (!isNew) lent.set(name, value)
      return value
    },
  }
}

/**
 * The caller's headers to forward. None are forwarded if the request was translated, because a service does not support
 * the headers of another dialect.
 */
function headersFor(call: RelayCall, prepared: Prepared): Readonly<Record<string, string>> {
  return prepared.codec || prepared.translation ? {} : call.headers
}

function withForwarded(target: Target, call: RelayCall, endpoint: ChatEndpoint | ModeEndpoint): Target {
  if (!isChat(endpoint) || endpoint.dialect.name !== call.dialect) return target
  const { forwards, forwardsCodex } = endpoint
  if (!forwards && !forwardsCodex) return target
  const named = (forwards ?? []).flatMap((name) => {
    const value = call.headers[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  const own = forwardsCodex ? [...named, ...Object.entries(call.headers).filter(([name]) => isOfCodex(name))] : named
  return own.length === 0 ? target : { url: target.url, headers: { ...target.headers, ...Object.fromEntries(own) } }
}

type Opening = Pick<Attempting, 'call' | 'channel' | 'endpoint' | 'upstreamCall'>

/**
 * Makes a call with the `open` method of an endpoint, because the call needs more than a single POST. Its time limits
 * are those of a POST.
 */
async function opened(
  deps: RelayDeps,
  { call, channel, endpoint, upstreamCall }: Opening,
  target: Target,
  { body }: Prepared,
  { firstByteTimeoutMs }: Patience,
): Promise<Response> {
  const { leaving } = call
  if (leaving.hasLeft) throw leftUnsent()
  let isSent = false
  const controller = new AbortController()
  leaving.onLeave(() => controller.abort())
  const wait = {
    dueAtMs: firstByteTimeoutMs > 0 ? deps.deadlineWatch.nowMs() + firstByteTimeoutMs : Number.POSITIVE_INFINITY,
    watchIndex: undefined,
    lost: undefined as GatewayError | undefined,
    due() {
      wait.giveUp(new GatewayError('upstream_timeout', 'the upstream did not respond in time'))
    },
    cut() {
      wait.giveUp(shuttingDown())
    },
    giveUp(why: GatewayError) {
      wait.lost = why
      wait.dueAtMs = Number.POSITIVE_INFINITY
      controller.abort()
    },
  }
  deps.deadlineWatch.add(wait)
  try {
    await deps.guard.check(target.url)
    if (channel.carries?.proxy) await deps.guard.check(channel.carries.proxy.url)
    if (leaving.hasLeft) throw leftUnsent()
    isSent = true
    const response = await endpoint.open?.(target, jsonTextOf(body) ?? '', {
      call: upstreamCall,
      upstream: channel.upstream,
      signal: controller.signal,
      fetchJson: through(deps.fetchJson, channel.carries?.proxy),
      proxy: channel.carries?.proxy,
      check: async (url) => deps.guard.check(url),
    })
    if (!response) throw new GatewayError('do_request_failed', 'the request to the upstream failed')
    return response
  } catch (error) {
    if (wait.lost) throw wait.lost
    if (leaving.hasLeft) throw isSent ? new CallerLeft() : leftUnsent()
    if (error instanceof GatewayError) throw error
    throw new GatewayError('do_request_failed', 'the request to the upstream failed', { cause: error })
  } finally {
    deps.deadlineWatch.remove(wait)
  }
}
