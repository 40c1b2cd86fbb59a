import type { Usage } from '../../../contract/usage.ts'
import { errorObject } from '../../dialects/openai/errors.ts'
import { cancelEvent, errorEvent } from '../../dialects/openai-realtime/events.ts'
import { GatewayError } from '../../errors.ts'
import type { Outcome } from '../../events.ts'
import { requestId as newId } from '../../lib/ids.ts'
import type { CallerSocket, SocketSession } from '../../lib/socket-session.ts'
import { noCode, vanished } from '../../lib/web-socket-frames.ts'
import type { SessionCall } from '../call.ts'
import { usageFault } from '../check-usage.ts'
import type { RelayDeps } from '../deps.ts'
import { withoutKey } from '../error-answer.ts'
import type { IdleWait } from '../idle-watch.ts'
import { type OpenCall, settle } from '../settlement.ts'
import { RealtimeMeter } from './meter.ts'
import type { OpenSession, RealtimeSessions } from './sessions.ts'
import { type Lapse, Silence } from './silence.ts'
import type { UpstreamMessage, UpstreamSocket } from './upstream-socket.ts'

/** How long the upstream may take to tell what a response used that was stopped. */
const lastUsageMs = 1_000

/** Codes of a close (RFC 6455, section 7.4.1). */
const closeCodes = { normal: 1000, goingAway: 1001, refused: 1008, tooLong: 1009, failed: 1011, tooSlow: 1013 } as const

/** Why a session ends, and what either side is told. */
interface Ending {
  outcome: Outcome
  /** Told to the caller as an event, and named in the log row. */
  error?: GatewayError
  caller: { code: number; reason: string }
  upstream: { code: number; reason: string }
}

type Data = string | Uint8Array

const decoder = new TextDecoder()

/**
 * One session: messages pass both ways as they come, in order, and a side that is slow stops the other. It owns the hold
 * from the moment the caller's connection stands: however it ends, it settles once, and only then the caller is told.
 */
export class RealtimeSession implements SocketSession, OpenSession, IdleWait {
  dueAtMs = 0
  place: number | undefined
  readonly #deps: RelayDeps
  readonly #open: OpenCall<SessionCall>
  readonly #upstream: UpstreamSocket
  readonly #sessions: RealtimeSessions
  readonly #meter: RealtimeMeter
  readonly #silence: Silence
  #caller: CallerSocket | undefined
  #isCallerThere = false
  #isEnding = false
  #ended: Promise<void> | undefined
  #isDraining = false
  #firstByteMs = 0
  /** Goes on once what waited for the caller has been sent. */
  #onDrained: (() => void) | undefined
  /** Goes on once no response is under way any more. */
  #onQuiet: (() => void) | undefined

  constructor(deps: RelayDeps, open: OpenCall<SessionCall>, upstream: UpstreamSocket, sessions: RealtimeSessions) {
    this.#deps = deps
    this.#open = open
    this.#upstream = upstream
    this.#sessions = sessions
    this.#meter = new RealtimeMeter((usage) => usageFault(open.call, open.upstreamModel, usage))
    this.#silence = new Silence(deps, open)
  }

  opened(socket: CallerSocket): void {
    this.#caller = socket
    this.#isCallerThere = true
    this.#upstream.onDrain = () => {
      this.#silence.upstreamBlockedAtMs = undefined
      if (this.#isCallerThere) socket.resume()
    }
    this.#deps.idleWatch.add(this)
    this.#sessions.add(this)
    this.#pump().catch((error: unknown) => {
      this.#deps.events.warning(`${this.#open.call.requestId}: ${String(error)}`)
      const failed = new GatewayError('internal_error', 'an internal error occurred', { cause: error })
      void this.#end(interrupted(failed, closeCodes.failed))
    })
  }

  message(data: Data): void {
    if (this.#isEnding) return
    this.#silence.callerSaid()
    this.#meter.heard(textOf(data))
    if (this.#upstream.send(data)) return
    this.#silence.upstreamBlockedAtMs = this.#deps.clock.nowMs()
    this.#caller?.pause()
  }

  drained(): void {
    this.#silence.callerBlockedAtMs = undefined
    this.#onDrained?.()
  }

  closed(code: number, reason: string): void {
    this.#isCallerThere = false
    this.drained()
    const upstream = code === vanished ? { code: closeCodes.goingAway, reason: '' } : { code, reason }
    void this.#end({
      outcome: this.#meter.isResponding ? 'aborted' : 'complete',
      caller: { code, reason },
      upstream,
    })
  }

  drain(): void {
    this.#isDraining = true
    if (!this.#meter.isResponding) void this.#end(this.#shutDown())
  }

  cutOff(): Promise<void> {
    return this.#end(this.#shutDown())
  }

  due(): void {
    const lapse = this.#silence.lapse(this.#meter.isResponding, this.#upstream)
    if (lapse === undefined) this.dueAtMs = this.#silence.nextLookMs()
    else void this.#end(this.#lapsed(lapse))
  }

  /** Carries what the upstream says, one message at a time: the next is read when this one has gone. */
  async #pump(): Promise<void> {
    for (;;) {
      const message = await this.#upstream.next()
      if (message.kind === 'close') return this.#upstreamClosed(message)
      this.#silence.upstreamSaid()
      if (this.#firstByteMs === 0) {
        this.#firstByteMs = this.#deps.clock.nowMs() - this.#open.call.startedAtMs
        this.#deps.breaker.succeeded(this.#open.channel.id, this.#open.call.facts.model)
      }
      const kind = this.#meter.said(textOf(message.data))
      if (this.#isEnding) {
        if (!this.#meter.isResponding) this.#onQuiet?.()
        continue
      }
      const isCovered = await this.#isCovered(kind)
      // What the caller sees complete is in the hold by now, also for the case that this process dies.
      await this.#deliver(kind === 'error' ? this.#cleaned(message.data) : message.data)
      if (this.#isEnding) continue
      if (!isCovered) void this.#end(interrupted(outOfQuota(), closeCodes.refused))
      else if (this.#isDraining && !this.#meter.isResponding) void this.#end(this.#shutDown())
    }
  }

  async #deliver(data: Data): Promise<void> {
    if (!this.#isCallerThere || this.#caller?.send(data) !== false) return
    this.#silence.callerBlockedAtMs = this.#deps.clock.nowMs()
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve
    })
    this.#onDrained = undefined
  }

  #cleaned(data: Data): Data {
    return typeof data === 'string' ? withoutKey(data, this.#open.channel.upstream.key) : data
  }

  /** True when the hold covers what was used; it grows with that. */
  async #isCovered(kind: ReturnType<RealtimeMeter['said']>): Promise<boolean> {
    const slice = this.#deps.settings().PreConsumedQuota
    if (kind === undefined && this.#meter.unseenTokens < slice / 4) return true
    if (kind === 'error') return true
    const { hold, charging } = this.#open
    const used = this.#chargeOf(this.#meter.leastUsage())
    const wanted = this.#chargeOf(this.#meter.mostUsage()) + charging.ceiling(0)
    // The end of a response is written down even where the hold is large enough: it is charged if this process dies.
    if (kind === 'done' || wanted > hold.amount) await hold.extend(Math.max(1, wanted - hold.amount), used)
    if (used < hold.amount) return true
    if (this.#deps.settings().QuotaPolicy === 'compat') return true
    return kind !== 'done' && used === hold.amount
  }

  #chargeOf(usage: Usage): number {
    return this.#open.charging.charge({ usage, estimated: false }).quota
  }

  async #upstreamClosed({ code, reason }: Extract<UpstreamMessage, { kind: 'close' }>): Promise<void> {
    const said = withoutKey(reason, this.#open.channel.upstream.key)
    const isResponding = this.#meter.isResponding
    const isUsual =
      code === closeCodes.normal || code === closeCodes.goingAway || code === noCode || (code >= 3000 && code <= 4999)
    this.#onQuiet?.()
    if (this.#isEnding) return
    if (!isResponding && isUsual)
      return this.#end({ outcome: 'complete', caller: { code, reason: said }, upstream: { code, reason: '' } })
    this.#deps.breaker.failed(this.#open.channel.id, this.#open.call.facts.model)
    const error =
      code === closeCodes.tooLong
        ? new GatewayError('bad_response_body', 'the upstream sent a message that is too long')
        : isUsual
          ? new GatewayError(
              'upstream_stream_incomplete',
              'the upstream closed the session before its answer was complete',
            )
          : new GatewayError('upstream_stream_error', 'the connection to the upstream broke')
    const passed = code === vanished || code === noCode ? closeCodes.failed : code
    return this.#end({ ...interrupted(error, passed), caller: { code: passed, reason: said || error.code } })
  }

  #shutDown(): Ending {
    const error = new GatewayError('shutting_down', 'this server is shutting down, try again')
    const told = { code: closeCodes.goingAway, reason: error.code }
    return this.#meter.isResponding
      ? { outcome: 'interrupted', error, caller: told, upstream: { code: closeCodes.goingAway, reason: '' } }
      : { outcome: 'complete', caller: told, upstream: { code: closeCodes.normal, reason: '' } }
  }

  #lapsed(lapse: Lapse): Ending {
    switch (lapse) {
      case 'idle':
      case 'overdue': {
        const reason = lapse === 'idle' ? 'nothing was said for too long' : 'the session lasted too long'
        const told = { code: closeCodes.goingAway, reason }
        return {
          outcome: this.#meter.isResponding ? 'interrupted' : 'complete',
          ...(this.#meter.isResponding && { error: new GatewayError('upstream_timeout', reason) }),
          caller: told,
          upstream: { code: closeCodes.normal, reason: '' },
        }
      }
      case 'unread':
        return {
          outcome: 'aborted',
          caller: { code: closeCodes.tooSlow, reason: 'the caller does not read' },
          upstream: { code: closeCodes.goingAway, reason: '' },
        }
      default: {
        this.#deps.breaker.failed(this.#open.channel.id, this.#open.call.facts.model)
        const said = lapse === 'blocked' ? 'the upstream takes nothing any more' : 'the upstream fell silent'
        return interrupted(
          new GatewayError('upstream_timeout', said),
          lapse === 'blocked' ? closeCodes.tooSlow : closeCodes.failed,
        )
      }
    }
  }

  /** Ends the session, once. */
  #end(ending: Ending): Promise<void> {
    this.#isEnding = true
    this.#ended ??= this.#endOnce(ending)
    return this.#ended
  }

  async #endOnce({ outcome, error, caller, upstream }: Ending): Promise<void> {
    const deps = this.#deps
    deps.idleWatch.remove(this)
    this.#upstream.onDrain = undefined
    await this.#hushed()
    this.#upstream.close(upstream.code, upstream.reason)
    if (this.#firstByteMs === 0) deps.breaker.undecided(this.#open.channel.id, this.#open.call.facts.model)
    try {
      await this.#settle(outcome, error?.code ?? '')
    } finally {
      this.#sessions.remove(this)
      this.#leave(error, caller)
    }
  }

  /** Stops what is being said, and hears what it used. */
  async #hushed(): Promise<void> {
    if (!this.#meter.isResponding || this.#upstream.isOver) return
    this.#upstream.send(cancelEvent)
    let timer: ReturnType<typeof setTimeout> | undefined
    await new Promise<void>((resolve) => {
      this.#onQuiet = resolve
      timer = setTimeout(resolve, lastUsageMs)
      this.drained()
    })
    clearTimeout(timer)
  }

  async #settle(outcome: Outcome, code: string): Promise<void> {
    const deps = this.#deps
    const approximate = deps.settings().ApproximateTokenEnabled
    const { responses, refused } = this.#meter
    const { usage, estimated } = await this.#meter.finish((texts) =>
      texts.every((text) => text === '')
        ? Promise.resolve(0)
        : deps.counter.count(this.#open.upstreamModel, { texts, fixedTokens: 0 }, approximate),
    )
    await settle(deps, this.#open, {
      measure: { usage, estimated },
      outcome,
      code,
      firstByteMs: this.#firstByteMs,
      note: `realtime, responses: ${responses}${refused && `; usage of the upstream refused: ${refused}`}`,
    })
  }

  #leave(error: GatewayError | undefined, { code, reason }: Ending['caller']): void {
    const caller = this.#caller
    if (!this.#isCallerThere || !caller) return
    if (error) {
      const told = errorObject(error, this.#open.call.requestId)
      caller.send(errorEvent(`event_${newId(this.#deps.clock.nowMs())}`, { ...told }))
    }
    caller.close(code, reason)
  }
}

function outOfQuota(): GatewayError {
  return new GatewayError('quota_exhausted_mid_stream', 'the quota ran out in the middle of the session')
}

function interrupted(error: GatewayError, code: number): Ending {
  return {
    outcome: 'interrupted',
    error,
    caller: { code, reason: error.code },
    upstream: { code: closeCodes.goingAway, reason: '' },
  }
}

/** The text of a message; some services send their events as bytes. */
function textOf(data: Data): string {
  if (typeof data === 'string') return data
  return data[0] === 0x7b ? decoder.decode(data) : ''
}
