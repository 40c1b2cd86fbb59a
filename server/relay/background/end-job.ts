import { openaiResponses } from '../../dialects/openai-responses/index.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { HeldJob } from '../../store/ledger/background-jobs.ts'
import type { RelayDeps } from '../call/deps.ts'
import { type Measured, measure, nothingCame } from '../charging/measure.ts'
import { mediaOf, outputOf } from '../charging/reply-output.ts'
import { type Ending, type OpenCall, orRelease, settle } from '../charging/settlement.ts'
import type { Channel } from '../routing/routing-table.ts'
import { openedCall } from './stored-job.ts'

/** How a call has ended, for each status of its response (OpenAI API reference, "The response object"). */
const endings: Readonly<Record<string, Pick<Ending, 'outcome' | 'code'>>> = {
  completed: { outcome: 'complete', code: '' },
  incomplete: { outcome: 'complete', code: '' },
  failed: { outcome: 'interrupted', code: 'bad_response_status_code' },
  cancelled: { outcome: 'aborted', code: '' },
}

/** True for a response that its service is still generating. */
export function isUnderWay({ status }: JsonObject): boolean {
  return status === 'queued' || status === 'in_progress'
}

/** True for a response that is final. */
export function hasEnded({ status }: JsonObject): boolean {
  return typeof status === 'string' && Object.hasOwn(endings, status)
}

/**
 * The channel of a job, with the key that began the job. `gone` if the channel was deleted, undefined if it cannot be
 * used now.
 */
export function channelOf(deps: RelayDeps, job: HeldJob): Channel | 'gone' | undefined {
  const channel = deps.routing().channel(Number(job.channel_id))
  if (!channel) return 'gone'
  const keeper = deps.responseOwners.keeper(job, channel)
  return keeper && { ...channel, upstream: { ...channel.upstream, key: keeper.key } }
}

/** If a response has ended, charges the user's open jobs for it. */
export async function chargeIfEnded(deps: RelayDeps, userId: number, response: unknown): Promise<void> {
  if (!isObject(response) || !hasEnded(response) || typeof response['id'] !== 'string') return
  for (const job of await deps.backgroundJobs.of(userId, response['id'])) {
    const channel = channelOf(deps, job)
    if (channel && channel !== 'gone') await endJob(deps, job, channel, response)
  }
}

/** Charges a job for its response, unless another node is doing that. */
export async function endJob(deps: RelayDeps, job: HeldJob, channel: Channel, response: JsonObject): Promise<void> {
  if (!(await deps.backgroundJobs.takeSettling(job))) return
  // If there is no hold, the job has been charged, but its node stopped before it could delete the job.
  if (job.amount >= 0) await charge(deps, openedCall(deps, job, channel), response)
  // If the database rejected the charge, the hold is still open. It is closed here, because nothing else would close
  // it.
  await deps.backgroundJobs.abandon(job, 'the charge of the background response could not be written')
}

async function charge(deps: RelayDeps, open: OpenCall, response: JsonObject): Promise<void> {
  const { outcome, code } = endings[String(response['status'])] ?? { outcome: 'interrupted', code: 'bad_response_body' }
  open.tools?.take(response)
  const measuring = orRelease(open, () => measured(deps, open, response))
  const { measure: used, note } = measuring instanceof Promise ? await measuring : measuring
  await settle(deps, open, { measure: used, outcome, code, firstByteMs: 0, ...(note !== undefined && { note }) })
}

/**
 * The usage of a response. A response that failed without reporting usage costs nothing, like every other failed
 * response.
 */
function measured(deps: RelayDeps, open: OpenCall, response: JsonObject): Measured | Promise<Measured> {
  const reply = openaiResponses.decodeReply(response, open.call.requestId)
  if (response['status'] === 'failed' && !reply.usage) return nothingCame
  return measure(deps, open, {
    ...{ usage: undefined, reported: reply.usage },
    ...{ output: () => outputOf(reply), media: mediaOf(reply) },
  })
}
