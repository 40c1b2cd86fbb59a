import { ToolCounter } from '../dialects/metering/tool-counts.ts'
import { deliver } from './answer/deliver.ts'
import { type Trial, throughChannels, toFailure } from './attempts/through-channels.ts'
import type { RelayCall } from './call/call.ts'
import type { RelayDeps } from './call/deps.ts'
import { CallerLeft } from './cancellation/caller-left.ts'
import { measure } from './charging/measure.ts'
import { type OpenCall, settle } from './charging/settlement.ts'
import { noteHealth } from './failures/note-health.ts'
import { AttemptFailed } from './failures/retry-policy.ts'
import { isAboutUsage, noteRefusesUsage, refusesUsage } from './failures/stream-usage-refused.ts'
import { isAboutThoughts } from './failures/thoughts-refused.ts'
import { reasonOf } from './failures/upstream-failure.ts'
import { ownHeaders } from './headers/relay-headers.ts'
import { mappedModel } from './routing/routing-table.ts'
import { leftOutOf, type Prepared } from './upstream/prepare.ts'
import { patienceOf, type Question, tryEndpoints } from './upstream/try-endpoints.ts'

/**
 * The whole life of one call: choose a channel, price it, take the quota, send, deliver, settle. If a channel fails
 * before its first byte, another is tried. Throws GatewayError or AttemptFailed; then nothing has been charged.
 */
export function relay(deps: RelayDeps, call: RelayCall): Promise<Response> {
  return throughChannels(deps, call, attempt)
}

/**
 * Tries a channel, and retries it once if the service refused one of three things: a cached upstream token, which may
 * have been revoked; the request for a stream's usage; or another service's reasoning from earlier in the conversation.
 */
async function attempt(deps: RelayDeps, call: RelayCall, trial: Trial): Promise<Response | AttemptFailed> {
  const lent = new Map<string, string>()
  const { channel } = trial
  const upstreamModel = mappedModel(channel, call.facts.model)
  const withoutUsage = call.facts.stream && refusesUsage(deps.unsupportedFeatures, channel, upstreamModel)
  const how = { upstreamModel, lent, withoutUsage }
  const failed = await attemptOnce(deps, call, trial, how)
  if (failed instanceof Response || call.signal.aborted) return failed
  if (!withoutUsage && isAboutUsage(failed, call, channel, upstreamModel)) {
    const next = await attemptOnce(deps, call, trial, { ...how, lent: new Map(), withoutUsage: true })
    // A caller who leaves also yields a Response, so check `ok`.
    if (next instanceof Response && next.ok) noteRefusesUsage(deps.unsupportedFeatures, channel, upstreamModel, failed)
    return next
  }
  if (isAboutThoughts(failed, call))
    return attemptOnce(deps, call, trial, { ...how, lent: new Map(), withoutThoughts: true })
  if (lent.size === 0 || failed.error.status !== 401) return failed
  for (const [name, value] of lent) deps.accessTokens.refused(name, value)
  return attemptOnce(deps, call, trial, { ...how, lent: new Map() })
}

async function attemptOnce(
  deps: RelayDeps,
  call: RelayCall,
  trial: Trial,
  how: Pick<Question, 'upstreamModel' | 'lent' | 'withoutUsage' | 'withoutThoughts'>,
): Promise<Response | AttemptFailed> {
  const { channel, charging, hold, attempts } = trial
  const settings = deps.settings()
  const startedAtMs = deps.deadlineWatch.nowMs()
  const { upstreamModel } = how
  const note = (status: number, error: string) =>
    void attempts.push({
      channelId: channel.id,
      status,
      error,
      elapsedMs: Math.round(deps.deadlineWatch.nowMs() - startedAtMs),
    })
  const open: OpenCall = { call, hold, charging, channel, upstreamModel, attempts, systemPromptReset: false }
  if (charging.tools) open.tools = new ToolCounter()
  let sent: OpenCall | undefined
  try {
    const capTokens = charging.affordable(hold.amount, call.promptGuess)
    const ready = (prepared: Prepared) => {
      open.systemPromptReset = prepared.systemPromptReset
      if (prepared.tierLost) open.tierLost = true
      call.dropped = leftOutOf(prepared)
      sent = open
    }
    const question = { call, channel, capTokens, ...how }
    const { prepared, response } = await tryEndpoints(deps, question, patienceOf(channel, settings), ready)
    return await deliver({ deps, open, response, sentAtMs: startedAtMs }, prepared)
  } catch (error) {
    if (error instanceof CallerLeft && sent) {
      note(0, error.message)
      hold.handOver()
      return chargePrompt(deps, sent)
    }
    const failed = error instanceof AttemptFailed ? error : toFailure(error)
    note(failed.status, reasonOf(failed, channel.upstream.key))
    return failed
  }
}

/** The caller left while the upstream was working, and the upstream charges for the prompt it has read. */
async function chargePrompt(deps: RelayDeps, open: OpenCall): Promise<Response> {
  noteHealth(deps, open, 'undecided')
  const found = await measure(deps, open, { usage: undefined, output: () => '' })
  await settle(deps, open, { measure: found.measure, outcome: 'aborted', code: '', firstByteMs: 0 })
  // Nobody reads this; 499 is the usual status for a caller who closed the request.
  return new Response(null, { status: 499, headers: ownHeaders(open.call) })
}
