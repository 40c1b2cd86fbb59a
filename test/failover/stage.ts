import { type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { type ChannelInput, type LogRow, startTestGateway, type TestGateway } from '../helpers/test-gateway.ts'
import { type Seen, see, until } from '../relay/setup.ts'

/** The model of all faults. The gateway has it in its list as a model without thinking. */
export const model = 'gpt-4o'
/** A model with more context, which only the fallback serves. */
export const longModel = 'gpt-4.1'

/** What a caller received, which upstreams were called, and what it cost. */
export interface Heard extends Seen {
  elapsedMs: number
  /** The upstreams to which the gateway sent the request, in order: `primary` or `fallback`. */
  called: (string | undefined)[]
  /** Quota units that the call cost, and its log rows. */
  cost: number
  rows: LogRow[]
}

/**
 * A fresh installation with two channels for one model and the defaults of the product. The fault is at the primary
 * channel, which has the higher priority.
 */
export interface Stage extends AsyncDisposable {
  gateway: TestGateway
  upstream: FakeUpstream
  ask(body?: object): Promise<Heard>
  /** True once the answer to the last call has begun. */
  hasBegun(): boolean
  /**
   * Lets time pass while the gateway waits. With a fake clock, moves the clock once `isWaiting` returns true. In real
   * time, does nothing, because the gateway itself waits for the whole time.
   */
  whileWaiting(ms: number, isWaiting: () => boolean): Promise<void>
  /** Changes the channels. */
  changeChannels(changes: Partial<Record<'primary' | 'fallback', Partial<ChannelInput>>>): Promise<void>
  /** Lets time pass between calls. */
  pass(ms: number): Promise<void>
}

/** Starts the installation for a test of a fault, in real time or with a fake clock that the test moves. */
export async function startStage(
  time: 'real' | 'fake',
  options: Readonly<Record<string, string>> = {},
): Promise<Stage> {
  let aheadMs = 0
  let hasBegun = false
  const nowMs = () => Date.now() + aheadMs
  const upstream = await startFakeUpstream()
  const gateway = await startTestGateway({ retries: true, ...(time === 'fake' && { clock: { nowMs } }) })
  for (const [key, value] of Object.entries(options)) await gateway.setOption(key, value)
  const ids = new Map<string, number>()
  for (const [priority, key] of ['fallback', 'primary'].entries())
    ids.set(
      key,
      await gateway.addChannel({
        ...{ name: key, key, base_url: upstream.url, priority },
        models: key === 'fallback' ? `${model},${longModel}` : model,
      }),
    )
  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
  return {
    gateway,
    upstream,
    hasBegun: () => hasBegun,
    async ask(body = {}) {
      const before = upstream.requests.length
      const caller = await gateway.addCaller({ user: 1e9 })
      const beganMs = nowMs()
      const asked = { model, messages: [{ role: 'user', content: 'Hello' }], ...body }
      hasBegun = false
      const answer = await gateway.post('/v1/chat/completions', asked, caller.token)
      hasBegun = true
      const seen = await see(answer)
      const elapsedMs = nowMs() - beganMs
      await until(async () => (await gateway.balances(caller.userId, caller.tokenId)).holds === 0)
      const { used } = await gateway.balances(caller.userId, caller.tokenId)
      const rows = (await gateway.logs()).filter((row) => row.token_id === caller.tokenId)
      const called = upstream.requests.slice(before).map(({ key }) => key)
      return { ...seen, elapsedMs, called, cost: used, rows }
    },
    async whileWaiting(ms, isWaiting) {
      if (time === 'real') return
      await until(isWaiting)
      aheadMs += ms
    },
    async changeChannels(changes) {
      for (const [key, fields] of Object.entries(changes))
        await gateway.api('PUT', '/api/channel', { id: ids.get(key), ...fields })
    },
    async pass(ms) {
      if (time === 'real') await sleep(ms)
      else aheadMs += ms
    },
    async [Symbol.asyncDispose]() {
      await gateway.close()
      await upstream.close()
    },
  }
}
