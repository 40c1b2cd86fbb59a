import { describeFault } from '../../errors.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import type { HeldJob } from '../../store/ledger/background-jobs.ts'
import type { RelayDeps } from '../call/deps.ts'
import type { Channel } from '../routing/routing-table.ts'
import { readBounded } from '../upstream/read-answer.ts'
import { askStoring } from './ask-storing.ts'
import { channelOf, endJob, hasEnded, isUnderWay } from './end-job.ts'

const limitMs = 30_000
const mostBytes = 64 * 1024 * 1024
/** After how many seconds a service is asked again if it could not be reached or did not know the response. */
const failedSeconds = 30
const missingSeconds = 20
/** A response counts as lost if its service does not know it this many times in a row. */
const mostMissing = 3

/** Asks the services about the jobs that are due, and charges those that have ended. */
export async function pollJobs(deps: RelayDeps): Promise<void> {
  const jobs = await deps.backgroundJobs.takeDue()
  await Promise.all(
    jobs.map((job) =>
      pollJob(deps, job).catch((error: unknown) =>
        deps.events.warning(`background response ${job.response_id}: ${describeFault(error)}`),
      ),
    ),
  )
}

async function pollJob(deps: RelayDeps, job: HeldJob): Promise<void> {
  const { backgroundJobs } = deps
  if (job.amount < 0) return backgroundJobs.done(job)
  const channel = channelOf(deps, job)
  if (channel === 'gone') return backgroundJobs.abandon(job, 'the channel of the background response was deleted')
  const isLate = deps.clock.nowMs() / 1000 >= job.ends_at
  const state = channel && (await stateOf(deps, job, channel, isLate))
  if (channel && isObject(state) && hasEnded(state)) return endJob(deps, job, channel, state)
  if (isLate) return backgroundJobs.abandon(job, 'the background response did not end in time')
  if (isObject(state)) return backgroundJobs.askAgain(job, pauseAfter(deps.clock.nowMs() / 1000 - job.created_at))
  if (state !== 'missing') return backgroundJobs.askAgain(job, failedSeconds, job.missing)
  const missing = job.missing + 1
  if (missing < mostMissing) return backgroundJobs.askAgain(job, missingSeconds, missing)
  return backgroundJobs.abandon(job, 'the service forgot the background response')
}

/** The older a job is, the less often its service is asked. */
function pauseAfter(ageSeconds: number): number {
  if (ageSeconds < 30) return 2
  return ageSeconds < 300 ? 5 : 15
}

/**
 * The current state of a response at its service. `missing` if the service does not know the response, undefined if the
 * service cannot be asked. With `cancels`, the service is asked to cancel the response.
 */
export async function stateOf(
  deps: RelayDeps,
  { response_id: id, model }: Pick<HeldJob, 'response_id' | 'model'>,
  channel: Channel,
  cancels = false,
): Promise<JsonObject | 'missing' | undefined> {
  const question = cancels
    ? { channel, model, method: 'POST', path: `/responses/${id}/cancel` }
    : { channel, model, method: 'GET', path: `/responses/${id}` }
  try {
    const answer = await askStoring(deps, question, limitMs)
    const { text, ending } = await readBounded(deps, answer, mostBytes, deps.deadlineWatch.nowMs() + limitMs)
    if (answer.status === 404 || answer.status === 410) return 'missing'
    const body = answer.ok && ending === 'end' ? tryParse(text) : undefined
    return isObject(body) && body['id'] === id && (isUnderWay(body) || hasEnded(body)) ? body : undefined
  } catch (error) {
    deps.events.warning(`background response ${id}: ${describeFault(error)}`)
    return undefined
  }
}
