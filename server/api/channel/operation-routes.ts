import { api } from '../../../contract/api/index.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { channelTests } from '../../store/channels/channel-tests.ts'
import { channelById } from '../../store/channels/channels.ts'
import { channelTestRun, type JobRun, lastRun, runDeadSeconds } from '../../store/installation/job-runs.ts'
import type { Announce, ApiDeps } from '../deps.ts'
import { changeBatch, copyOne } from './batch.ts'
import { keyHealth, removeDead, reviveDead } from './channel-keys.ts'

type OperationDeps = Pick<
  ApiDeps,
  'store' | 'secrets' | 'clock' | 'updateBalance' | 'updateAllBalances' | 'upstreamModels'
> & { announce: Announce }

/** Operations on channels other than reading and writing them. Must be mounted before `/api/channel/{id}`. */
export function mountChannelOperations(router: ApiRouter, deps: OperationDeps): void {
  const { store, announce } = deps
  mountTestResults(router, deps)
  mountBalances(router, deps)
  mountKeys(router, deps)

  serve(router, api.channel.upstreamModels, async ({ params }) => {
    await refuseAbsent(deps, params.id)
    const answer = await deps.upstreamModels(params.id)
    if (!answer.ok) throw new ApiFailure(answer.message, 200, { isQuoted: true })
    return answer.value
  })

  serve(router, api.channel.copy, async (call) => {
    const id = await copyOne(deps, call)
    await announce({ topic: 'channels', id })
    return id
  })

  serve(router, api.channel.batch, async (call) => {
    const count = await changeBatch({ store, clock: deps.clock }, call)
    await announce({ topic: 'channels', id: 0 })
    return count
  })
}

function mountTestResults(router: ApiRouter, deps: OperationDeps): void {
  const { store, clock } = deps
  serve(router, api.channel.testProgress, async () =>
    progressOf(await lastRun(store.read, channelTestRun), epochSeconds(clock)),
  )
  serve(router, api.channel.tests, async ({ params }) => {
    await refuseAbsent(deps, params.id)
    const tests = await channelTests(store.read, params.id)
    return tests.map(({ created_at, elapsed_time, ...test }) => ({
      ...test,
      time: created_at,
      response_time: elapsed_time,
    }))
  })
}

function progressOf(run: JobRun | undefined, now: number) {
  if (!run) return { running: false, total: 0, done: 0, failed: 0, started_at: 0, finished_at: 0 }
  const { total, done, failed, started_at, finished_at } = run
  // If the process of a run dies, the run gets no end time. A run therefore also counts as finished if it has made no
  // progress for `runDeadSeconds`.
  const running = finished_at === 0 && now - run.updated_at < runDeadSeconds
  return { running, total, done, failed, started_at, finished_at }
}

function mountBalances(router: ApiRouter, deps: OperationDeps): void {
  serve(router, api.channel.updateAllBalances, async () => {
    if (!(await deps.updateAllBalances())) throw new ApiFailure('The balances are already being updated.')
  })
  serve(router, api.channel.updateBalance, async ({ params }) => {
    const failed = (message: string, isQuoted = false) =>
      new ApiFailure(message, 200, { extra: { balance: 0 }, isQuoted })
    if (!(await channelById(deps.store.read, params.id))) throw failed('Channel not found.')
    const answer = await deps.updateBalance(params.id)
    if (!answer.ok) throw failed(answer.message, true)
    return { balance: answer.value }
  })
}

function mountKeys(router: ApiRouter, deps: OperationDeps): void {
  const { store, secrets, announce } = deps
  serve(router, api.channel.keys, ({ params }) => keyHealth(store.read, secrets, params.id))
  serve(router, api.channel.reviveKeys, async (call) => {
    const count = await reviveDead(deps, call)
    await announce({ topic: 'channels', id: call.params.id })
    return count
  })
  serve(router, api.channel.removeDeadKeys, async (call) => {
    const count = await removeDead(deps, call)
    await announce({ topic: 'channels', id: call.params.id })
    return count
  })
}

async function refuseAbsent({ store }: OperationDeps, id: number): Promise<void> {
  if (!(await channelById(store.read, id))) throw new ApiFailure('Channel not found.')
}
