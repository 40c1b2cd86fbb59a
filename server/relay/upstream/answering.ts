import type { RelayDeps } from '../call/deps.ts'
import type { OpenCall } from '../charging/settlement.ts'

/** The answer of an upstream to an open call, which was sent at `sentAtMs` of the clock of deadlines. */
export interface Answering {
  readonly deps: RelayDeps
  readonly open: OpenCall
  readonly response: Response
  readonly sentAtMs: number
}

/** The answer owns the hold from now on: no other channel is tried, and every ending of the answer settles it. */
export function takeOver({ deps, open, response, sentAtMs }: Answering): void {
  const elapsedMs = Math.round(deps.deadlineWatch.nowMs() - sentAtMs)
  open.attempts.push({ channelId: open.channel.id, status: response.status, error: '', elapsedMs })
  open.hold.handOver()
}
