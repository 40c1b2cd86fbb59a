import { maxReason } from '../../contract/api/channel-operations.ts'
import { channelStatus } from '../../contract/statuses.ts'
import { epochSeconds } from '../lib/clock.ts'
import { inParallel } from '../lib/in-parallel.ts'
import type { RelayDeps } from '../relay/call/deps.ts'
import { type Channel, type RoutingSource, withKey } from '../relay/routing/routing-table.ts'
import { type Probe, probeChannel } from '../relay/upstream/probe-channel.ts'
import { addTestLog, channelsToTest } from '../store/channels/channel-health.ts'
import { addChannelTest } from '../store/channels/channel-tests.ts'
import { recordChannelTest } from '../store/channels/channels.ts'
import { advanceRun, beginRun, channelTestRun, finishRun, planRun } from '../store/installation/job-runs.ts'
import type { Store } from '../store/store.ts'
import type { ChannelSwitch } from './channel-switch.ts'
import type { NotifyRoot } from './notify.ts'

export interface ChannelHealthDeps {
  store: Store
  relay: RelayDeps
  routing: RoutingSource
  channelSwitch: ChannelSwitch
  notifyRoot: NotifyRoot
}

/** Tests channels, and disables or enables them according to the results. */
export interface ChannelHealth {
  test(id: number, model?: string): Promise<Pick<Probe, 'ok' | 'timeMs' | 'message' | 'model' | 'reply'>>
  /** Starts a test run over all channels. Returns false if a run is in progress on any node. */
  testAll(scope: 'all' | 'disabled'): Promise<boolean>
  /** Starts a test run if one is due according to the option ChannelTestFrequency. */
  testIfDue(): Promise<void>
  /** Stops a test run in progress before its next test, so that another run can begin. */
  close(): Promise<void>
}

/** The number of concurrent tests. */
const width = 4
/** The maximum number of a channel's paused keys that a test run tries again. */
const mostDeadKeys = 10

const absent: Probe = {
  ok: false,
  timeMs: 0,
  model: '',
  message: 'the channel does not exist, or its type is not supported',
  reply: '',
  verdict: undefined,
}

export function createChannelHealth(deps: ChannelHealthDeps): ChannelHealth {
  const { store, relay, routing, channelSwitch, notifyRoot } = deps
  const now = () => epochSeconds(relay.clock)
  let closed = false
  let running = false

  const channelOf = (id: number) => {
    const channel = routing.current().channel(id)
    return channel && withKey(channel)
  }

  async function testOne(channel: Channel, model: string | undefined): Promise<Probe> {
    const probe = await probeChannel(relay, channel, model)
    const message = probe.message.slice(0, maxReason)
    await store.write(async (trx) => {
      // If the channel was deleted during the test, there is no history to write to.
      if (!(await recordChannelTest(trx, channel.id, probe.timeMs, now()))) return
      const test = { created_at: now(), model: probe.model, ok: probe.ok, elapsed_time: probe.timeMs, message }
      await addChannelTest(trx, channel.id, test)
      const content = `channel ${channel.name} ${probe.ok ? 'passed its test' : `failed its test: ${message}`}`
      await addTestLog(trx, { at: now(), channelId: channel.id, model: probe.model, elapsedMs: probe.timeMs, content })
    })
    return probe
  }

  /**
   * Applies the result of a test to the channel, according to the options. A channel that a person disabled stays
   * disabled.
   */
  async function judge(channel: Channel, status: number, probe: Probe): Promise<void> {
    const settings = relay.settings()
    const slow = settings.ChannelDisableThreshold > 0 && probe.timeMs > settings.ChannelDisableThreshold * 1000
    const mayDisable = settings.AutomaticDisableChannelEnabled && status === channelStatus.enabled
    const { id, keyRing, upstream } = channel
    if (probe.verdict?.disable !== undefined) {
      await channelSwitch.setKeyAside(id, upstream.key, probe.verdict.disable, mayDisable)
    } else if (slow && mayDisable) {
      await channelSwitch.disable(id, `the test took ${probe.timeMs} ms`)
    }
    if (!settings.AutomaticEnableChannelEnabled || status === channelStatus.disabled) return
    if (probe.ok && keyRing?.dead().includes(upstream.key)) await channelSwitch.reviveKey(id, upstream.key)
    if (probe.ok && !slow && status === channelStatus.autoDisabled) await channelSwitch.enable(id)
  }

  /**
   * Tests paused keys, because their accounts may have been topped up since the upstream rejected the keys. A key that
   * passes is used again.
   */
  async function tryDeadKeys(channel: Channel): Promise<void> {
    if (!relay.settings().AutomaticEnableChannelEnabled) return
    const others = channel.keyRing?.dead().filter((key) => key !== channel.upstream.key) ?? []
    for (const key of others.slice(0, mostDeadKeys)) {
      if (closed) return
      const probe = await probeChannel(relay, { ...channel, upstream: { ...channel.upstream, key } }, undefined)
      if (probe.ok) await channelSwitch.reviveKey(channel.id, key)
    }
  }

  async function runAll(scope: 'all' | 'disabled'): Promise<{ passed: number; failed: string[] }> {
    const channels = await channelsToTest(store.read, scope)
    await store.write((trx) => planRun(trx, channelTestRun, channels.length))
    const failed: string[] = []
    await inParallel(channels, width, async ({ id, status }) => {
      if (closed) return
      const channel = channelOf(id)
      const probe = channel ? await testOne(channel, undefined) : absent
      if (!probe.ok) failed.push(`channel ${id} (${channel?.name ?? 'unknown'}): ${probe.message}`)
      if (channel) await judge(channel, status, probe)
      await store.write((trx) => advanceRun(trx, channelTestRun, now(), probe.ok))
      if (channel) await tryDeadKeys(channel)
    })
    return { passed: channels.length - failed.length, failed }
  }

  /** Starts a test run, which continues in the background after this function returns. */
  async function start(scope: 'all' | 'disabled', everySeconds: number): Promise<boolean> {
    if (!(await store.write((trx) => beginRun(trx, channelTestRun, now(), everySeconds)))) return false
    running = true
    void runAll(scope)
      .then(({ passed, failed }) => {
        if (everySeconds > 0) return
        notifyRoot(
          'the test of all channels is done',
          [`${passed} passed, ${failed.length} failed.`, ...failed].join('\n'),
        )
      })
      .catch((error: unknown) => relay.events.warning(`testing the channels failed: ${String(error)}`))
      .then(() => (closed ? undefined : noteEnd()))
    return true
  }

  async function noteEnd(): Promise<void> {
    running = false
    await store
      .write((trx) => finishRun(trx, channelTestRun, now()))
      .catch((error: unknown) => relay.events.warning(`the end of the channel tests was not noted: ${String(error)}`))
  }

  return {
    async test(id, model) {
      // A person who has just saved a channel expects the saved version to be tested.
      await routing.reload()
      const channel = channelOf(id)
      const { ok, timeMs, message, model: testedModel, reply } = channel ? await testOne(channel, model) : absent
      return { ok, timeMs, message, model: testedModel, reply }
    },
    testAll: (scope) => start(scope, 0),
    async testIfDue() {
      const minutes = relay.settings().ChannelTestFrequency
      if (minutes > 0 && !closed) await start('all', minutes * 60)
    },
    async close() {
      closed = true
      if (running) await noteEnd()
    },
  }
}
