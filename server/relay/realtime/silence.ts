import type { SessionCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import type { OpenCall } from '../charging/settlement.ts'
import type { UpstreamSocket } from './upstream-socket.ts'

/**
 * The wait that lasted too long. `idle`: neither side sent anything. `overdue`: the whole session lasted too long.
 * `unread`: the caller did not read waiting messages. `blocked`: the upstream accepted nothing. `stalled`: the upstream
 * stopped sending during a response. `lost`: the upstream does not respond at all.
 */
export type Lapse = 'idle' | 'overdue' | 'unread' | 'blocked' | 'stalled' | 'lost'

/** An upstream that is silent for this long is pinged. It must then respond within the same time. */
const pingAfterMs = 30_000
const lookEveryMs = 250

/** Watches the time limits of one session, as set in the options. */
export class Silence {
  /** When messages began waiting for each side; undefined while none are waiting. */
  callerBlockedAtMs: number | undefined
  upstreamBlockedAtMs: number | undefined
  readonly #deps: RelayDeps
  readonly #open: OpenCall<SessionCall>
  readonly #startedAtMs: number
  #callerSaidAtMs: number
  #upstreamSaidAtMs: number
  #pingedAtMs = Number.NEGATIVE_INFINITY

  constructor(deps: RelayDeps, open: OpenCall<SessionCall>) {
    this.#deps = deps
    this.#open = open
    this.#startedAtMs = deps.deadlineWatch.nowMs()
    this.#callerSaidAtMs = this.#startedAtMs
    this.#upstreamSaidAtMs = this.#callerSaidAtMs
  }

  callerSaid(): void {
    this.#callerSaidAtMs = this.#deps.deadlineWatch.nowMs()
  }

  upstreamSaid(): void {
    this.#upstreamSaidAtMs = this.#deps.deadlineWatch.nowMs()
  }

  nextLookMs(): number {
    return this.#deps.deadlineWatch.nowMs() + lookEveryMs
  }

  lapse(isBusy: boolean, upstream: Pick<UpstreamSocket, 'heardAtMs' | 'ping'>): Lapse | undefined {
    const { channel } = this.#open
    const settings = this.#deps.settings()
    const nowMs = this.#deps.deadlineWatch.nowMs()
    const isPast = (sinceMs: number | undefined, limitMs: number) =>
      sinceMs !== undefined && limitMs > 0 && nowMs - sinceMs >= limitMs
    const idleMs = channel.streamIdleTimeoutMs ?? settings.StreamIdleTimeout * 1000
    if (isPast(this.#startedAtMs, channel.relayTimeoutMs ?? settings.RelayTimeout * 1000)) return 'overdue'
    if (isPast(this.callerBlockedAtMs, settings.CallerIdleTimeout * 1000)) return 'unread'
    if (isPast(this.upstreamBlockedAtMs, idleMs)) return 'blocked'
    // While messages wait for the caller, the upstream does not count as silent.
    if (this.callerBlockedAtMs !== undefined) return undefined
    if (isBusy && isPast(this.#upstreamSaidAtMs, idleMs)) return 'stalled'
    if (isPast(Math.max(this.#callerSaidAtMs, this.#upstreamSaidAtMs), settings.RealtimeIdleTimeout * 1000))
      return 'idle'
    return this.#isLost(upstream) ? 'lost' : undefined
  }

  #isLost(upstream: Pick<UpstreamSocket, 'heardAtMs' | 'ping'>): boolean {
    const nowMs = this.#deps.deadlineWatch.nowMs()
    if (nowMs - upstream.heardAtMs < pingAfterMs) return false
    if (this.#pingedAtMs < upstream.heardAtMs) {
      this.#pingedAtMs = nowMs
      upstream.ping()
      return false
    }
    return nowMs - this.#pingedAtMs >= pingAfterMs
  }
}
