import { GatewayError } from '../errors.ts'
import { admitLong } from './admission/admit-long.ts'
import { beginRecording } from './admission/begin-recording.ts'
import { type RelayRouteDeps, refused, serveCaller } from './admission/serve-caller.ts'
import { bodyLimits, decompressedBody } from './body/body-limits.ts'
import { readForm } from './body/form-body.ts'
import { fieldsOf, readJson } from './body/json-body.ts'
import type { CallBody, RelayCall } from './call/call.ts'
import type { CallRoute } from './call/call-routes.ts'
import type { Caller } from './call/caller.ts'
import { withSummaries } from './call/compactions.ts'
import { withItems } from './call/item-store.ts'
import { responseKeeper } from './call/kept-responses.ts'
import { lastEventsFor } from './failures/error-response.ts'
import { countCall } from './free-calls/count-call.ts'
import { relay } from './relay.ts'
import { buildCall } from './request/build-call.ts'
import { deadlineIn } from './request/call-deadline.ts'
import { withCallerModels } from './request/caller-models.ts'
import { embeddingsIn, embeddingsOut } from './request/gemini-embeddings.ts'
import type { Incoming } from './request/incoming.ts'
import { readAside } from './request/read-aside.ts'
import type { ChannelAffinity } from './request/session-key.ts'
import { answerInTime } from './stream/answer-in-time.ts'
import { asArray } from './stream/array-framing.ts'

/** Authenticates the caller, relays the call, and turns every failure into a response in the caller's dialect. */
export function serveRelay(deps: RelayRouteDeps, incoming: Incoming, route: CallRoute): Promise<Response> {
  return serveCaller(deps, incoming, (caller) => relayed(deps, incoming, caller, route), route.dialect)
}

async function relayed(deps: RelayRouteDeps, incoming: Incoming, caller: Caller, route: CallRoute): Promise<Response> {
  const startedAtMs = deps.relay.clock.nowMs()
  const arrivedAtMs = deps.relay.deadlineWatch.nowMs()
  const affinity = deps.relay.settings().ChannelAffinity as ChannelAffinity
  let body: CallBody | undefined
  let call: RelayCall | undefined
  try {
    const endsByMs = deadlineIn(incoming.request.headers, arrivedAtMs)
    const sent = await readBody(deps, incoming, caller, route)
    const read = incoming.complete && sent.kind === 'json' ? incoming.complete(sent) : sent
    if (read instanceof Response) return read
    beginRecording(deps.relay, incoming, caller, { read, route })
    const named = withCallerModels(read, route, deps.relay.settings().CallerFallbacks)
    body = route.dialect === 'openai-responses' ? completeBody(deps, caller, named) : named
    if (route.embeds) {
      const asked = embeddingsIn(body, route)
      call = buildCall(deps.relay.routing(), incoming, caller, route, asked, {
        startedAtMs,
        arrivedAtMs,
        endsByMs,
        affinity,
      })
      return await embeddingsOut(await relay(deps.relay, call), route.embeds)
    }
    const reading = readAside(deps.relay.asideReader, body, route)
    const known = reading && (await reading)
    const keeping = route.dialect === 'openai-responses' ? responseKeeper(deps.relay, caller, body) : undefined
    const keeper = keeping && (await keeping)
    const options = { startedAtMs, arrivedAtMs, endsByMs, known, keeper, affinity }
    call = buildCall(deps.relay.routing(), incoming, caller, route, body, options)
    if (call.recording) call.recording.isStreamed = call.facts.stream || call.mode === 'speech'
    if (route.countOnly) return await countCall(deps.relay, call)
    const response = await answered(deps, incoming, caller, call)
    return route.asArray ? asArray(response) : response
  } catch (error) {
    call?.leaving.close()
    incoming.failed = { call, model: call?.facts.model ?? requestedModel(incoming, route, body), startedAtMs }
    if (error instanceof GatewayError && error.code === 'token_exhausted') deps.exhausted(caller.tokenId)
    throw error
  } finally {
    // The upstream reads the whole upload before it responds, so the stored upload can be deleted.
    if (body?.kind === 'form') await body.form.dispose()
  }
}

/**
 * Returns a body of the Responses API. References to items that the gateway stored are replaced by the items. Summaries
 * that the gateway encrypted are replaced by their text.
 */
function completeBody({ relay: { itemStore, compactionSeals } }: RelayRouteDeps, caller: Caller, read: CallBody) {
  return withSummaries(compactionSeals, caller, withItems(itemStore, caller, read))
}

/**
 * Returns the response to a call. If an upstream is slow to begin a stream, the response head and keep-alives are sent
 * first.
 */
function answered(deps: RelayRouteDeps, incoming: Incoming, caller: Caller, call: RelayCall): Promise<Response> {
  const answering = relay(deps.relay, call)
  const everyMs = deps.relay.settings().KeepAliveInterval * 1000
  // Only these two kinds of calls always receive a stream if they request one.
  const isStream = call.facts.stream && (call.mode === 'chat' || call.mode === 'completions')
  if (!isStream || everyMs === 0) return answering
  const failed = async (error: unknown) => {
    call.leaving.close()
    incoming.failed = { call, model: call.facts.model, startedAtMs: call.startedAtMs }
    const answer = refused(deps, incoming, caller, error, call.dialect)
    const events = lastEventsFor(error, await answer.text(), call)
    incoming.ended?.()
    return events
  }
  return answerInTime({ call, watch: deps.relay.deadlineWatch, everyMs, answering, failed })
}

/** The model that a request names, for a request from which no call could be built. */
function requestedModel({ pathModel }: Incoming, { model }: CallRoute, body: CallBody | undefined): string {
  const named = body?.kind === 'form' ? body.form.fields.get('model') : body && fieldsOf(body)['model']
  return pathModel ?? model ?? (typeof named === 'string' ? named : '')
}

/** Can throw GatewayError synchronously, before it returns a promise. */
function readBody(
  deps: RelayRouteDeps,
  { request, pathModel }: Incoming,
  caller: Caller,
  { form, jsonToo, model, countOnly, mode, dialect }: CallRoute,
): Promise<CallBody> {
  const { source, limits } = decompressedBody(request, bodyLimits(request, deps.relay.settings()))
  const type = request.headers.get('content-type') ?? ''
  const isJson = !form || (jsonToo && type.toLowerCase().startsWith('application/json'))
  if (isJson) {
    // A call that only counts tokens is free, so its body is not checked against the quota.
    const admit = countOnly ? undefined : (named?: string) => admitLong(deps, caller, model ?? named ?? pathModel)
    const outlines = mode === 'chat' && dialect === 'openai-chat' && !countOnly
    return readJson(source, limits, deps.relay, { admit, outlines })
  }
  if (!type.toLowerCase().startsWith('multipart/form-data')) {
    throw new GatewayError('unsupported_media_type', 'this endpoint requires multipart/form-data')
  }
  return readForm(source.body, type, limits, deps.spoolDir).then((formBody) => ({ kind: 'form', form: formBody }))
}
