import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fake from './helpers/fake-upstream.ts'
import { Installation } from './helpers/gateway-process.ts'
import { installFor, messages, model, newToken } from './money/installed.ts'
import { until } from './relay/setup.ts'

/** Loaded into the gateway: a signal triggers the two errors that end a process if it does not handle them. */
const faulty = `process.on('SIGUSR2', () => {
  void Promise.reject(new Error('a stray rejection'))
  setTimeout(() => { throw new Error('a stray exception') })
})`

/** Loaded into the gateway: makes closing the database fail. */
const unclosable = `import { Database } from 'bun:sqlite'
Database.prototype.close = () => { throw new Error('cannot be closed') }`

/** Loaded into the gateway: makes the cleanup fail as it would on a full disk. */
const untidy = `import { Database } from 'bun:sqlite'
const { run } = Database.prototype
Database.prototype.run = function (text, ...values) {
  if (text.includes('wal_checkpoint')) throw new Error('database or disk is full')
  return run.call(this, text, ...values)
}`

async function withPreload(code: string, work: (preload: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-faulty-'))
  const preload = join(folder, 'faulty.ts')
  writeFileSync(preload, code)
  try {
    await work(preload)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const eventOf = (delta: object, finish: string | null) =>
  `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

test('an uncaught error is logged and counted, and the gateway and its open streams continue', async () => {
  await withPreload(faulty, async (preload) => {
    await using upstream = await fake.startFakeUpstream()
    await using installation = new Installation(undefined, { BUN_OPTIONS: `--preload ${preload}` })
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
  })
})

test.each([
  [
    'it reports that the database cannot be closed, still ends',
    unclosable,
    1,
    'shutdown failed: Error: cannot be closed',
  ],
  ['it loses nothing if the disk is full', untidy, 0, 'shutting down'],
])('while the gateway shuts down, %s, and can be started again', async (_, code, exitCode, said) => {
  await withPreload(code, async (preload) => {
    await using installation = new Installation(undefined, { BUN_OPTIONS: `--preload ${preload}` })
    const gateway = await installation.start()
    expect(await gateway.stop()).toBe(exitCode)
    expect(gateway.said()).toContain(said)
    await installation.start()
  })
})

test('a log that cannot be written neither ends nor blocks the gateway', async () => {
  await withPreload(faulty, async (preload) => {
    await using installation = new Installation(undefined, { BUN_OPTIONS: `--preload ${preload}` })
    const gateway = await installation.startInto('/dev/full')
    process.kill(gateway.pid, 'SIGUSR2')
    const metrics = async () => (await fetch(`${gateway.url}/metrics`)).text()
    await until(async () => /^tollgate_uncaught_faults_total 2$/m.test(await metrics()))
    await gateway.api('GET', '/api/user/self')
    expect(await metrics()).toContain('\ntollgate_uncaught_faults_total 2\n')
    expect(await gateway.stop()).toBe(0)
  })
})
