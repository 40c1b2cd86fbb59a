import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fake from './helpers/fake-upstream.ts'
import { Installation } from './helpers/gateway-process.ts'
import { installFor, messages, model, newToken } from './money/installed.ts'
import { until } from './relay/setup.ts'

/** Loaded into the gateway: on a signal it has the two faults that end a process which does not see to them. */
const faulty = `process.on('SIGUSR2', () => {
  void Promise.reject(new Error('a stray rejection'))
  setTimeout(() => { throw new Error('a stray exception') })
})`

const eventOf = (delta: object, finish: string | null) =>
  `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

test('a fault that nobody caught ends no stream: it is logged and counted, and everything goes on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-faulty-'))
  const preload = join(folder, 'faulty.ts')
  writeFileSync(preload, faulty)
  await using upstream = await fake.startFakeUpstream()
  await using installation = new Installation(undefined, { BUN_OPTIONS: `--preload ${preload}` })
  try {
    const gateway = await installation.start()
    await installFor(gateway, upstream.url)
    const { key } = await newToken(gateway)
    const { promise: hadFaults, resolve: goOn } = Promise.withResolvers<void>()
    upstream.next(
      fake.behaviour('in two parts', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        await exchange.write(eventOf({ role: 'assistant', content: 'before' }, null))
        await hadFaults
        await exchange.write(`${eventOf({ content: ' and after' }, null)}${eventOf({}, 'stop')}data: [DONE]\n\n`)
        exchange.end()
      }),
    )
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages, stream: true }),
    })
    process.kill(gateway.pid, 'SIGUSR2')
    await until(() => /a stray rejection/.test(gateway.said()) && /a stray exception/.test(gateway.said()))
    goOn()
    const text = await response.text()
    expect(text).toContain(' and after')
    expect(text.trimEnd()).toEndWith('data: [DONE]')
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text()
    expect(metrics).toContain('\ntollgate_uncaught_faults_total 2\n')
    expect(await gateway.stop()).toBe(0)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}, 60_000)
