import { expect, test } from 'bun:test'
import { speechBytes } from '../helpers/fake-upstream/media.ts'
import { pause } from '../helpers/fake-upstream/types.ts'
import { behaviour, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { see, until } from './setup.ts'

const model = 'tts-1'
const rootToken = 'brokensoundroottoken0123456789'

test('when upstream audio breaks off, the caller’s audio breaks off too, and only one log line is written', async () => {
  await using upstream = await startFakeUpstream()
  // The gateway runs in a separate process, so that all of its output can be read.
  await using installation = new Installation(undefined, { INITIAL_ROOT_TOKEN: rootToken })
  const gateway = await installation.start()
  await gateway.api('PUT', '/api/option/', { key: 'ModelRatio', value: JSON.stringify({ [model]: 1 }) })
  const channel = { type: 1, name: 'sound', key: 'upstream-key', group: 'default', models: model }
  await gateway.api('POST', '/api/channel/', { ...channel, base_url: upstream.url })
  /** Sends audio until the caller has received some of it, then breaks the connection or stalls. */
  const begun = (name: string, end: 'reset' | 'hang', heard: Promise<void>) =>
    behaviour(name, async (exchange) => {
      exchange.head(200, [['content-type', 'audio/mpeg']])
      let isHeard = false
      void heard.then(() => {
        isHeard = true
      })
      while (!isHeard) {
        await exchange.write(speechBytes())
        await pause(5, exchange.callerLeft)
      }
      exchange[end]()
    })
  for (const [name, end, reason, charged] of [
    ['breaks', 'reset', 'upstream_stream_error', 0],
    ['stalls', 'hang', 'upstream_timeout', 1],
  ] as const) {
    const { promise: heard, resolve: hear } = Promise.withResolvers<void>()
    upstream.next(begun(name, end, heard))
    await gateway.api('PUT', '/api/option/', { key: 'RelayTimeout', value: end === 'hang' ? '0.5' : '0' })
    const body = { model, voice: 'alloy', input: 'Hi' }
    const response = await gateway.post('/v1/audio/speech', body, `sk-${rootToken}`)
    hear()
    const seen = await see(response)
    expect([name, seen.status, seen.broken]).toEqual([name, 200, true])
    await until(() => gateway.said().includes(`"reason":"${reason}"`))
    const rows = await gateway.api<unknown[]>('GET', '/api/log/?type=2')
    expect([name, rows.length]).toEqual([name, charged])
  }
  await gateway.stop()
  const lines = gateway
    .said()
    .split('\n')
    .filter((line) => line !== '')
  for (const line of lines) expect(line).toStartWith('{"level":')
}, 120_000)
