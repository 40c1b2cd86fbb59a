import { crashSettle } from '../../billing/crash-settle.ts'
import { type Clock, epochSeconds } from '../../lib/clock.ts'
import type { StoredResponse } from '../../store/accounts/stored-responses.ts'
import { backgroundHold } from '../../store/installation/nodes.ts'
import {
  addJob,
  askAgain,
  type BackgroundJob,
  dueJobs,
  type HeldJob,
  jobsOf,
  removeJob,
  takeSettling,
  takeTurn,
} from '../../store/ledger/background-jobs.ts'
import type { Store } from '../../store/store.ts'

/**
 * How long a node may take to ask a service about a job, and how long to charge it, in seconds. After that, another
 * node may do so.
 */
const turnSeconds = 90
const settlingSeconds = 60
const firstPollSeconds = 2
/** How many jobs a node asks about at the same time. */
const mostAtOnce = 16

/** A job to begin. The other columns of the job's row are derived from these fields. */
export interface NewJob {
  holdId: string
  /** The response, its owner, and the channel that stores it. */
  owned: StoredResponse
  call: string
  /** The longest time that the service may take, in seconds. */
  limitSeconds: number
}

/**
 * The responses that services are generating in the background. The jobs are in the database, so that any node can
 * finish them.
 */
export interface BackgroundJobs {
  /** Transfers the hold of a call to a job. False if the hold is already closed. */
  begin(job: NewJob): Promise<boolean>
  /** The user's open jobs for a response. */
  of(userId: number, responseId: string): Promise<HeldJob[]>
  /** The jobs about which this node must ask the service now. No other node asks about them at the same time. */
  takeDue(): Promise<HeldJob[]>
  askAgain(job: BackgroundJob, inSeconds: number, missing?: number): Promise<void>
  /** True if this node must charge the job. */
  takeSettling(job: BackgroundJob): Promise<boolean>
  /** Deletes a job whose hold is closed. */
  done(job: BackgroundJob): Promise<void>
  /**
   * Ends a job. If its hold is still open, because the usage cannot be determined or the charge could not be written,
   * the user is charged in the same way as for a call whose process crashed.
   */
  abandon(job: BackgroundJob, why: string): Promise<void>
  /** How often this process has begun a job or asked about one. */
  handled(): number
}

/** Keeps the jobs in the database. `nodeId` is the process that owns the holds until they are transferred to jobs. */
export function createBackgroundJobs(store: Store, nodeId: string, clock: Clock): BackgroundJobs {
  let handled = 0
  return {
    begin({ holdId, owned, call, limitSeconds }) {
      handled++
      const now = epochSeconds(clock)
      const { id, user_id, channel_id, key_hash, model } = owned
      const times = { created_at: now, ends_at: now + limitSeconds, poll_at: now + firstPollSeconds, settle_until: 0 }
      const job = { hold_id: holdId, user_id, response_id: id, channel_id, key_hash, model, call, ...times, missing: 0 }
      return store.write((trx) => addJob(trx, nodeId, job, owned))
    },
    of: (userId, responseId) => jobsOf(store.read, userId, responseId),
    async takeDue() {
      const now = epochSeconds(clock)
      const due = await dueJobs(store.read, now, mostAtOnce)
      if (due.length === 0) return []
      handled += due.length
      return store.write(async (trx) => {
        const taken: HeldJob[] = []
        for (const job of due) if (await takeTurn(trx, job, now + turnSeconds)) taken.push(job)
        return taken
      })
    },
    askAgain: (job, inSeconds, missing = 0) =>
      store.write((trx) => askAgain(trx, job.hold_id, { poll_at: epochSeconds(clock) + inSeconds, missing })),
    takeSettling(job) {
      const now = epochSeconds(clock)
      return store.write((trx) => takeSettling(trx, job.hold_id, now, now + settlingSeconds))
    },
    done: (job) => store.write((trx) => removeJob(trx, job.hold_id)),
    async abandon(job, why) {
      const hold = await backgroundHold(store.read, job.hold_id)
      if (hold) await store.ledger.apply([crashSettle(hold, epochSeconds(clock), `interrupted: ${why}`)])
      await store.write((trx) => removeJob(trx, job.hold_id))
    },
    handled: () => handled,
  }
}
