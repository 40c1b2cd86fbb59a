import type { Usage } from '../../../contract/usage.ts'
import { transcriptionCharge } from '../../billing/audio-price.ts'
import type { PriceBook } from '../../billing/price-book.ts'
import { errorObject } from '../../dialects/openai-passthrough/errors.ts'
import { cancelEvent, errorEvent } from '../../dialects/openai-realtime/events.ts'
import { sumOf } from '../../dialects/openai-realtime/usage.ts'
import { GatewayError } from '../../errors.ts'
import type { Outcome } from '../../events.ts'
import type { CallerSocket, SocketSession } from '../../lib/network/socket-session.ts'
import { runningTimer } from '../../lib/running-timer.ts'
import { requestId as newId } from '../../lib/secrets/ids.ts'
import { withoutKey } from '../../lib/secrets/without-key.ts'
import type { CrashRow } from '../../store/schema/ledger-types.ts'
import type { SessionCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import type { DeadlineWait } from '../cancellation/deadline-watch.ts'
import { usageFault } from '../charging/check-usage.ts'
import { type OpenCall, settle } from '../charging/settlement.ts'
import { noteHealth } from '../failures/note-health.ts'
import {
  callerClosed,
  type Ending,
  interrupted,
  lapsed,
  outOfQuota,
  refused,
  shutDown,
  upstreamClosed,
} from './endings.ts'
import { RealtimeMeter, type Transcription } from './meter.ts'
import type { OpenSession, RealtimeSessions } from './sessions.ts'
import { Silence } from './silence.ts'
import type { UpstreamClose, UpstreamSocket } from './upstream-socket.ts'

/** Used to estimate the tokens of a text if they cannot be counted. */
const charactersPerTextToken = 4

/** How long the upstream may take to report the usage of a cancelled response. */
const lastUsageMs = 1_000

type Data = string | Uint8Array

/** The parts of a session. */
export interface SessionParts {
  deps: RelayDeps
  open: OpenCall<SessionCall>
  upstream: UpstreamSocket
  sessions: RealtimeSessions
  /** Rejects with GatewayError if the caller is no longer allowed to make calls. */
  check(): Promise<void>
}

const decoder = new TextDecoder()

/**
 * One session. Messages are passed on in both directions, in their order, as they arrive. If one side reads slowly, the
 * other has to wait. The session owns the hold from the moment the caller's connection is open. However the session
 * ends, it is settled exactly once, and only then is the caller informed.
 */
export class RealtimeSession implements SocketSession, OpenSession, DeadlineWait {
  dueAtMs = 0
  watchIndex: number | undefined
  readonly #deps: RelayDeps
  readonly #open: OpenCall<SessionCall>
  readonly #upstream: UpstreamSocket
  readonly #sessions: RealtimeSessions
  readonly #check: SessionParts['check']
  readonly #meter: RealtimeMeter
  readonly #silence: Silence
  #caller: CallerSocket | undefined
  #isCallerThere = false
  #isEnding = false
  #ended: Promise<void> | undefined
  #isDraining = false
  #firstByteMs = 0
  /** Called once everything waiting for the caller has been sent. */
  #onDrained: (() => void) | undefined
  /** Called once no response is in progress. */
  #onQuiet: (() => void) | undefined

  constructor({ deps, open, upstream, sessions, check }: SessionParts) {
    this.#deps = deps
    this.#open = open
    this.#upstream = upstream
    this.#sessions = sessions
    this.#check = check
    this.#meter = new RealtimeMeter(
      (usage) => usageFault(open, usage),
      (transcription) => transcriptionPrice(deps.prices(), open, transcription),
    )
    this.#silence = new Silence(deps, open)
  }

  opened(socket: CallerSocket): void {
    this.#caller = socket
    this.#isCallerThere = true
    this.#upstream.onDrain = () => {
      this.#silence.upstreamBlockedAtMs = undefined
      if (this.#isCallerThere) socket.resume()
    }
    this.#deps.deadlineWatch.add(this)
    this.#sessions.add(this)
    this.#pump().catch((error: unknown) => {
      this.#deps.events.warning(`${this.#open.call.requestId}: ${String(error)}`)
      const failed = new GatewayError('internal_error', 'an internal error occurred', { cause: error })
      void this.#end(interrupted(failed))
    })
  }

  message(data: Data): void {
    if (this.#isEnding) return
    this.#silence.callerSaid()
    this.#meter.fromCaller(textOf(data))
    if (this.#upstream.send(data)) return
    this.#silence.upstreamBlockedAtMs ??= this.#deps.deadlineWatch.nowMs()
    this.#caller?.pause()
  }

  drained(): void {
    this.#silence.callerBlockedAtMs = undefined
    this.#onDrained?.()
  }

  closed(code: number, reason: string): void {
    this.#isCallerThere = false
    this.drained()
    void this.#end(callerClosed(code, reason, this.#meter.isBusy))
  }

  drain(): void {
    this.#isDraining = true
    if (!this.#meter.isBusy) void this.#end(shutDown(this.#meter.isBusy))
  }

  cutOff(): Promise<void> {
    return this.#end(shutDown(this.#meter.isBusy))
  }

  due(): void {
    const lapse = this.#silence.lapse(this.#meter.isBusy, this.#upstream)
    if (lapse === undefined) this.dueAtMs = this.#silence.nextLookMs()
    else void this.#end(lapsed(lapse, this.#meter.isBusy))
  }

  /** Passes on the upstream's messages one at a time. The next message is read once the current one has been sent. */
  async #pump(): Promise<void> {
    for (;;) {
      const message = await this.#upstream.next()
      if (message.kind === 'close') return this.#upstreamClosed(message)
      this.#silence.upstreamSaid()
      if (this.#firstByteMs === 0) {
        this.#firstByteMs = this.#deps.clock.nowMs() - this.#open.call.startedAtMs
        noteHealth(this.#deps, this.#open, 'well')
      }
      const kind = this.#meter.fromUpstream(textOf(message.data))
      if (this.#isEnding) {
        if (!this.#meter.isBusy) this.#onQuiet?.()
        continue
      }
      const shortage = await this.#shortage(kind)
      const refusal = kind === 'begun' ? await this.#refusal() : undefined
      // The hold has already been increased, so that a completed response that the caller has seen is covered even if
      // this process dies.
      await this.#deliver(kind === 'error' ? this.#cleaned(message.data) : message.data)
      if (this.#isEnding) continue
      if (refusal) void this.#end(refused(refusal))
      else if (shortage) void this.#end(shortage)
      else if (this.#isDraining && !this.#meter.isBusy) void this.#end(shutDown(this.#meter.isBusy))
    }
  }

  /**
   * Why the caller is no longer allowed to continue: its token or the token's owner was disabled after the session
   * began.
   */
  async #refusal(): Promise<GatewayError | undefined> {
    try {
      await this.#check()
      return undefined
    } catch (error) {
      // A working session is not ended just because the check cannot be made now.
      return error instanceof GatewayError && error.code !== 'database_unavailable' ? error : undefined
    }
  }

  async #deliver(data: Data): Promise<void> {
    if (!this.#isCallerThere || this.#caller?.send(data) !== false) return
    this.#silence.callerBlockedAtMs = this.#deps.deadlineWatch.nowMs()
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve
    })
    this.#onDrained = undefined
  }

  #cleaned(data: Data): Data {
    return typeof data === 'string' ? withoutKey(data, this.#open.channel.upstream.key) : data
  }

  /** Increases the hold as the usage grows. If the quota does not cover the usage, returns why the session must end. */
  async #shortage(kind: ReturnType<RealtimeMeter['fromUpstream']>): Promise<Ending | undefined> {
    const slice = this.#deps.settings().PreConsumedQuota
    if (kind === undefined && this.#meter.unseenTokens < slice / 4) return undefined
    if (kind === 'error') return undefined
    const { hold, charging } = this.#open
    const least = this.#meter.least()
    const used = this.#chargeOf(least)
    const wanted = this.#chargeOf(this.#meter.most()) + charging.ceiling(0)
    let failed: GatewayError | undefined
    // The end of a response is recorded even if the hold is large enough, so that the response is charged if this
    // process dies.
    if (kind === 'done' || wanted > hold.amount)
      await hold.extend(Math.max(1, wanted - hold.amount), used, this.#crashRow(least)).catch((error: GatewayError) => {
        failed = error
      })
    if (used < hold.amount) return undefined
    if (this.#deps.settings().QuotaPolicy === 'compat') return undefined
    if (kind !== 'done' && used === hold.amount) return undefined
    return failed ? interrupted(failed) : outOfQuota()
  }

  #crashRow(parts: readonly Usage[]): CrashRow {
    const { promptTokens, completionTokens } = sumOf(parts)
    return { channelId: this.#open.channel.id, promptTokens, completionTokens }
  }

  #chargeOf(parts: readonly Usage[]): number {
    const { beside } = this.#meter
    return this.#open.charging.charge({ usage: sumOf(parts), parts, beside, estimated: false }).quota
  }

  async #upstreamClosed(close: UpstreamClose): Promise<void> {
    this.#onQuiet?.()
    if (this.#isEnding) return
    const reason = withoutKey(close.reason, this.#open.channel.upstream.key)
    await this.#end(upstreamClosed({ ...close, reason }, this.#meter.isBusy))
  }

  /** Ends the session, once. */
  #end(ending: Ending): Promise<void> {
    this.#isEnding = true
    this.#ended ??= this.#endOnce(ending).catch((error: unknown) => {
      this.#deps.events.warning(`${this.#open.call.requestId}: ${String(error)}`)
    })
    return this.#ended
  }

  async #endOnce(ending: Ending): Promise<void> {
    const { outcome, error, upstreamFault, upstream } = ending
    const deps = this.#deps
    deps.deadlineWatch.remove(this)
    this.#upstream.onDrain = undefined
    await this.#hushed()
    this.#upstream.close(upstream.code, upstream.reason)
    // If the upstream has sent anything, the channel's health has already been recorded.
    if (upstreamFault) noteHealth(deps, this.#open, 'faulty')
    else if (this.#firstByteMs === 0) noteHealth(deps, this.#open, 'undecided')
    try {
      await this.#settle(outcome, error?.code ?? '')
    } finally {
      this.#sessions.remove(this)
      this.#leave(ending)
    }
  }

  /** Stops the response in progress, and waits for its usage. */
  async #hushed(): Promise<void> {
    if (!this.#meter.isBusy || this.#upstream.isOver) return
    this.#upstream.send(cancelEvent)
    let endTimer = () => {}
    await new Promise<void>((resolve) => {
      this.#onQuiet = resolve
      endTimer = runningTimer(lastUsageMs, resolve)
      this.drained()
    })
    endTimer()
  }

  async #settle(outcome: Outcome, code: string): Promise<void> {
    const deps = this.#deps
    const { responses, transcriptions, beside, refused } = this.#meter
    const { parts, estimated } = await this.#meter.finish((texts) => this.#count(texts))
    await settle(deps, this.#open, {
      measure: { usage: sumOf(parts), parts, beside, estimated },
      outcome,
      code,
      firstByteMs: this.#firstByteMs,
      note: [
        `realtime, responses: ${responses}`,
        ...(transcriptions > 0 ? [`transcriptions: ${transcriptions}, ${beside} units`] : []),
        ...(refused === '' ? [] : [`usage of the upstream refused: ${refused}`]),
      ].join('; '),
    })
  }

  /** Counts the tokens of texts. If they cannot be counted, they are estimated, so that they are not free. */
  #count(texts: readonly string[]): number | Promise<number> {
    const characters = texts.reduce((sum, text) => sum + text.length, 0)
    if (characters === 0) return 0
    const approximate = this.#deps.settings().ApproximateTokenEnabled
    return this.#deps.counter
      .count(this.#open.upstreamModel, { texts, fixedTokens: 0 }, approximate)
      .catch(() => Math.ceil(characters / charactersPerTextToken))
  }

  #leave({ error, isCut, caller: { code, reason } }: Ending): void {
    const caller = this.#caller
    if (!this.#isCallerThere || !caller) return
    if (error) {
      const details = errorObject(error, this.#open.call.requestId)
      caller.send(errorEvent(`event_${newId(this.#deps.clock.nowMs())}`, { ...details }))
    }
    if (isCut) caller.terminate()
    else caller.close(code, reason)
  }
}

/** Uses the price of the transcription model, or of the session's model if the transcription model has no price. */
function transcriptionPrice(
  prices: PriceBook,
  { charging, channel }: OpenCall<SessionCall>,
  { model, text, usage, seconds }: Transcription,
): number {
  const sheet = (model === '' ? undefined : prices.sheet(model, channel.type)) ?? charging.sheet
  const measure = {
    ...(usage && { usage }),
    ...(seconds !== undefined && { seconds }),
    textTokens: Math.ceil(text.length / charactersPerTextToken),
  }
  return transcriptionCharge(measure, sheet, charging.groupRatio).quota
}

/** The text of a message. Some services send their events in binary messages. */
function textOf(data: Data): string {
  if (typeof data === 'string') return data
  return data[0] === 0x7b ? decoder.decode(data) : ''
}
