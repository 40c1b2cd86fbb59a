import type { Hold } from '../../billing/ledger.ts'
import { GatewayError } from '../../errors.ts'
import { isEventStream } from '../../lib/bytes/sse.ts'
import { isObject, tryParse } from '../../lib/json.ts'
import { withoutKey } from '../../lib/secrets/without-key.ts'
import { askStoring } from '../background/ask-storing.ts'
import { channelOf, chargeIfEnded, endJob, hasEnded } from '../background/end-job.ts'
import { JobStream } from '../background/job-stream.ts'
import { stateOf } from '../background/poll-jobs.ts'
import { bodyLimits, decompressedBody } from '../body/body-limits.ts'
import { readJson } from '../body/json-body.ts'
import type { Caller } from '../call/caller.ts'
import type { RelayDeps } from '../call/deps.ts'
import { keeperFor, notFound, ownResponse } from '../call/kept-responses.ts'
import { viaHeader } from '../call/via.ts'
import { badBody, forCaller, statusFailure } from '../failures/upstream-failure.ts'
import { answerHeaders, streamHeaders } from '../headers/relay-headers.ts'
import type { Incoming } from '../request/incoming.ts'
import { type Channel, withKey } from '../routing/routing-table.ts'
import { readBounded, readerOf } from '../upstream/read-answer.ts'
import { modelsFor } from './model-list.ts'

const dialect = 'openai-responses'
const mostBytes = 64 * 1024 * 1024
const limitMs = 60_000

/** Parameters that are passed to the service, and parameters that request the stream of a response. */
const passedParameters = ['include', 'include[]', 'after', 'before', 'limit', 'order']
const streamParameters = ['stream', 'starting_after', 'include_obfuscation']

/** A call about a response or conversation that a service stores: its kind, its id, and the rest of the path. */
export interface StoredCall {
  kind: 'responses' | 'conversations'
  /** Absent = the call creates a conversation. */
  id?: string
  /** The rest of the path, such as `/input_items`; '' = the response or conversation itself. */
  rest: string
}

/**
 * Relays a call about a stored response or conversation to the channel that stores it. Only the user who created it can
 * access it. The call costs nothing and is not logged. It does count towards the limits and need quota. Throws
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
  let isStreamed = false
  try {
    const { channel, model } = id === undefined ? newKeeper(deps, caller) : await keeperOf(deps, caller, id)
    if (request.method === 'DELETE' && id !== undefined && rest === '') await refuseUnderWay(deps, caller, id)
    const body = request.method === 'POST' ? await bodyOf(deps, request) : undefined
    const answer = await askStoring(
      deps,
      {
        ...{ channel, model, method: request.method, body, signal: request.signal },
        path: `/${kind}${id === undefined ? '' : `/${id}`}${rest}`,
        parameters: parametersOf(request, kind === 'responses' && rest === ''),
        via: request.headers.get(viaHeader),
      },
      limitMs,
    )
    const { key } = channel.upstream
    if (answer.ok && answer.body && isEventStream(answer.headers)) {
      isStreamed = true
      return resumed(deps, incoming, { answer, body: answer.body, hold, key, userId: caller.userId })
    }
    const { text, ending } = await readBounded(deps, answer, mostBytes, deps.deadlineWatch.nowMs() + limitMs)
    if (!answer.ok) throw forCaller(statusFailure(answer, text, key, deps.clock.nowMs()))
    if (ending !== 'end') throw badBody("the upstream's response is incomplete", answer.status)
    if (kind === 'responses') await chargeIfEnded(deps, caller.userId, tryParse(text))
    await noteChange(deps, caller, { channel, model, method: request.method, id, rest, text })
    return new Response(withoutKey(text, key), {
      status: answer.status,
      headers: answerHeaders(answer.headers, { requestId, dialect }, key),
    })
  } finally {
    if (!isStreamed) await hold.release()
  }
}

interface Resuming {
  answer: Response
  body: NonNullable<Response['body']>
  hold: Hold
  key: string
  userId: number
}

/** Passes on the rest of a response's stream. The call stays open until the stream ends. */
function resumed(
  deps: RelayDeps,
  { request, requestId, ended }: Incoming,
  { answer, body, hold, key, userId }: Resuming,
): Response {
  const { StreamIdleTimeout, KeepAliveInterval } = deps.settings()
  const limits = { idleMs: StreamIdleTimeout * 1000, keepAliveMs: KeepAliveInterval * 1000, deadlineMs: Infinity }
  const reader = readerOf(deps, body, limits)
  const stream = new JobStream({
    ...{ deps, reader, userId },
    ended() {
      ended?.()
      return hold.release()
    },
  })
  // The runtime cancels a body only if it has begun to read it, so the signal is needed as well.
  request.signal.addEventListener('abort', () => stream.leave())
  const headers = streamHeaders(answer.headers, { requestId, dialect }, key)
  return new Response(stream.body(), { status: 200, headers })
}

/**
 * Refuses to delete a response that the service is still generating, because its cost could not be determined
 * afterwards. If the response has ended, charges for it. Throws GatewayError.
 */
async function refuseUnderWay(deps: RelayDeps, { userId }: Caller, id: string): Promise<void> {
  for (const job of await deps.backgroundJobs.of(userId, id)) {
    const channel = channelOf(deps, job)
    const state = channel && channel !== 'gone' ? await stateOf(deps, job, channel) : undefined
    if (channel && channel !== 'gone' && isObject(state) && hasEnded(state)) await endJob(deps, job, channel, state)
    else
      throw new GatewayError('invalid_field_value', 'the response is still being made: cancel it first', {
        param: 'id',
      })
  }
}

/** The parameters of a caller's query that are passed to the service. */
function parametersOf({ url }: Request, isResponse: boolean): [string, string][] {
  const asked = new URL(url).searchParams
  const names = isResponse ? [...passedParameters, ...streamParameters] : passedParameters
  return names.flatMap((name) => asked.getAll(name).map((value): [string, string] => [name, value]))
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

/** The channel for a new conversation: the first one that stores conversations for one of the caller's models. */
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

/** The JSON body of a POST, or undefined if it has none. */
async function bodyOf(deps: RelayDeps, request: Request): Promise<string | undefined> {
  if (!request.body) return undefined
  const { source, limits } = decompressedBody(request, bodyLimits(request, deps.settings()))
  const { text } = await readJson(source, limits, deps, { admit: undefined })
  return text
}

interface Change extends Keeper {
  method: string
  id: string | undefined
  rest: string
  text: string
}

/** Remembers the owner of a new conversation, and forgets responses and conversations that were deleted. */
async function noteChange(deps: RelayDeps, { userId }: Caller, change: Change): Promise<void> {
  const { channel, model, method, id, rest, text } = change
  if (id === undefined) {
    const made = tryParse(text)
    if (isObject(made) && typeof made['id'] === 'string') deps.responseOwners.note(userId, made['id'], channel, model)
  } else if (method === 'DELETE' && rest === '') await deps.responseOwners.remove(userId, id)
}
