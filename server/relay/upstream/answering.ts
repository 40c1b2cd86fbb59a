import type { RelayDeps } from '../call/deps.ts'
import type { OpenCall } from '../charging/settlement.ts'

/** An upstream's answer to an open call, which was sent at `sentAtMs` of the deadline clock. */
export interface Answering {
  readonly deps: RelayDeps
  readonly open: OpenCall
  readonly response: Response
  readonly sentAtMs: number
}

/** From now on the answer owns the hold: no other channel is tried, and the hold is settled however the answer ends. */
export function takeOver({ deps, open, response, sentAtMs }: Answering): void {
  const elapsedMs = Math.round(deps.deadlineWatch.nowMs() - sentAtMs)
  open.attempts.push({ channelId: open.channel.id, status: response.status, error: '', elapsedMs })
  open.hold.handOver()
}
