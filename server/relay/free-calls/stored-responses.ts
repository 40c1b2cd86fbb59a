import { GatewayError } from '../../errors.ts'
import { isObject, tryParse } from '../../lib/json.ts'
import { fetchPlain } from '../../lib/network/fetch-plain.ts'
import { withoutKey } from '../../lib/secrets/without-key.ts'
import type { Target } from '../../providers/provider.ts'
import { bodyLimits, decompressedBody } from '../body/body-limits.ts'
import { readJson } from '../body/json-body.ts'
import type { Caller } from '../call/caller.ts'
import type { RelayDeps } from '../call/deps.ts'
import { keeperFor, notFound, ownResponse } from '../call/kept-responses.ts'
import { viaHeader } from '../call/via.ts'
import { badBody, forCaller, statusFailure } from '../failures/upstream-failure.ts'
import { answerHeaders } from '../headers/relay-headers.ts'
import type { Incoming } from '../request/incoming.ts'
import { type Channel, withKey } from '../routing/routing-table.ts'
import { readBounded } from '../upstream/read-answer.ts'
import { modelsFor } from './model-list.ts'

const dialect = 'openai-responses'
const mostBytes = 64 * 1024 * 1024
const limitMs = 60_000

/** What of a caller's query reaches the service. */
const passedParameters = ['include', 'include[]', 'after', 'before', 'limit', 'order']

/** A call about something that a service stores: its kind, its id, and the rest of the path. */
export interface StoredCall {
  kind: 'responses' | 'conversations'
  /** Absent = a conversation is to be created. */
  id?: string
  /** Such as `/input_items`; '' = the thing itself. */
  rest: string
}

/**
 * Relays a call about a stored response or conversation to the channel that stores it. Only the user who made it can
 * reach it. The call costs nothing and is not logged, but it counts towards the limits and needs quota. Throws
 * GatewayError and AttemptFailed.
 */
export async function storedCall(
  deps: RelayDeps,
  incoming: Incoming,
  caller: Caller,
  { kind, id, rest }: StoredCall,
): Promise<Response> {
  const { request, requestId } = incoming
  const hold = await deps.ledger.hold({
    userId: caller.userId,
    tokenId: caller.tokenId,
    limits: caller.limits,
    amount: 1,
    least: 1,
    crashCharge: 0,
    modelName: '',
    requestId,
    signal: request.signal,
  })
  try {
    const { channel, model } = id === undefined ? newKeeper(deps, caller) : await keeperOf(deps, caller, id)
    const { url, headers } = await targetAt(deps, channel, model)
    const answer = await ask(deps, incoming, {
      url: addressOf(url, kind, `${id === undefined ? '' : `/${id}`}${rest}`, request.url),
      headers,
    })
    const { key } = channel.upstream
    const { text, ending } = await readBounded(deps, answer, mostBytes, deps.deadlineWatch.nowMs() + limitMs)
    if (!answer.ok) throw forCaller(statusFailure(answer, text, key, deps.clock.nowMs()))
    if (ending !== 'end') throw badBody("the upstream's response is incomplete", answer.status)
    await noteChange(deps, caller, { channel, model, method: request.method, id, rest, text })
    return new Response(withoutKey(text, key), {
      status: answer.status,
      headers: answerHeaders(answer.headers, { requestId, dialect }, key),
    })
  } finally {
    await hold.release()
  }
}

interface Keeper {
  channel: Channel
  model: string
}

/** The channel that stores the caller's response or conversation, with its key. */
async function keeperOf(deps: RelayDeps, caller: Caller, id: string): Promise<Keeper> {
  const stored = await ownResponse(deps, caller, id)
  if (!stored) throw notFound('id')
  const { channelId, key } = keeperFor(deps, stored)
  const channel = deps.routing().channel(channelId)
  if (!channel) throw notFound('id')
  return { channel: { ...channel, upstream: { ...channel.upstream, key } }, model: stored.model }
}

/** The channel for a new conversation: the first that stores conversations for one of the caller's models. */
function newKeeper(deps: RelayDeps, caller: Caller): Keeper {
  const routing = deps.routing()
  for (const model of modelsFor(caller, routing)) {
    const candidates = caller.chosenChannel
      ? [caller.chosenChannel]
      : routing.candidates(caller.group, model).map(({ channel }) => channel)
    const found = candidates.find((each) => storingEndpoint(each, model))
    if (found) return { channel: withKey(found), model }
  }
  throw new GatewayError('mode_not_supported', 'no channel of this group stores conversations')
}

/** The endpoint of a service that stores responses: OpenAI's and Azure's. */
function storingEndpoint({ provider, upstream }: Channel, model: string) {
  return provider.chat(upstream, model).find((each) => each.dialect.name === dialect && each.compactTarget)
}

async function targetAt(deps: RelayDeps, channel: Channel, model: string): Promise<Target> {
  const endpoints = channel.provider.chat(channel.upstream, model)
  const endpoint = endpoints.find((each) => each.dialect.name === dialect)
  if (!endpoint) throw notFound('id')
  const call = { mode: 'chat', path: '/v1/responses', model, stream: false } as const
  return endpoint.target(channel.upstream, call, {
    body: '',
    nowMs: deps.clock.nowMs(),
    tokens: deps.accessTokens,
    fetchJson: deps.fetchJson,
  })
}

/** The service's URL for responses, with another path below it. It keeps its own query. */
function addressOf(responsesUrl: string, kind: StoredCall['kind'], rest: string, callerUrl: string): string {
  const url = new URL(responsesUrl)
  url.pathname = url.pathname.replace(/\/responses$/, `/${kind}`) + rest
  const asked = new URL(callerUrl).searchParams
  for (const name of passedParameters) for (const value of asked.getAll(name)) url.searchParams.append(name, value)
  return url.href
}

async function ask(deps: RelayDeps, { request }: Incoming, { url, headers }: Target): Promise<Response> {
  const { method } = request
  const body = method === 'POST' ? await bodyOf(deps, request) : undefined
  await deps.guard.check(url)
  const tooLate = AbortSignal.timeout(limitMs)
  const via = request.headers.get(viaHeader)
  try {
    return await fetchPlain(url, {
      method,
      headers: {
        ...headers,
        ...(via !== null && { [viaHeader]: via }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body }),
      signal: AbortSignal.any([request.signal, tooLate]),
      redirect: 'manual',
    })
  } catch (cause) {
    if (tooLate.aborted) throw new GatewayError('upstream_timeout', 'the upstream did not respond in time')
    throw new GatewayError('do_request_failed', 'the request to the upstream failed', { cause })
  }
}

/** The JSON body of a POST, or undefined if it has none. */
async function bodyOf(deps: RelayDeps, request: Request): Promise<string | undefined> {
  if (!request.body) return undefined
  const { source, limits } = decompressedBody(request, bodyLimits(request, deps.settings()))
  const { text } = await readJson(source, limits, deps, undefined)
  return text
}

interface Change extends Keeper {
  method: string
  id: string | undefined
  rest: string
  text: string
}

/** Remembers a new conversation, and forgets what was deleted. */
async function noteChange(deps: RelayDeps, { userId }: Caller, change: Change): Promise<void> {
  const { channel, model, method, id, rest, text } = change
  if (id === undefined) {
    const made = tryParse(text)
    if (isObject(made) && typeof made['id'] === 'string') deps.responseOwners.note(userId, made['id'], channel, model)
  } else if (method === 'DELETE' && rest === '') await deps.responseOwners.remove(userId, id)
}
