// A SQLite database that another program has locked, or that cannot be written: open streams continue, and the health
// endpoints report the right status.
import { expect, test } from 'bun:test'
import * as fake from './helpers/fake-upstream.ts'
import { Installation } from './helpers/gateway-process.ts'
import { openServerDatabase } from './helpers/server-database.ts'
import { installFor, messages, model, newToken } from './money/installed.ts'
import { until } from './relay/setup.ts'

const eventOf = (content: string) =>
  `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content } }] })}\n\n`

test('while another program holds the write lock, open streams continue, and new calls wait until the lock is released', async () => {
  await using upstream = await fake.startFakeUpstream()
  await using installation = new Installation()
  const gateway = await installation.start()
  await installFor(gateway, upstream.url)
  const { key } = await newToken(gateway)
  const { promise: isLocked, resolve: goOn } = Promise.withResolvers<void>()
  upstream.next(
    fake.behaviour('in two parts', async (exchange) => {
      exchange.head(200, fake.streamHeaders())
      await exchange.write(eventOf('before'))
      await isLocked
      await exchange.write(eventOf('meanwhile'))
      exchange.hang()
    }),
  )
  const stream = await gateway.post('/v1/chat/completions', { model, messages, stream: true }, key)
  const reader = stream.body?.getReader()
  const heard = async () => new TextDecoder().decode((await reader?.read())?.value)
  expect(await heard()).toContain('before')

  using other = openServerDatabase(installation.databaseUrl)
  other.run('BEGIN IMMEDIATE')
  const call = gateway.post('/v1/chat/completions', { model, messages }, key)
  let isAnswered = false
  void call.then(() => {
    isAnswered = true
  })
  goOn()
  expect(await heard()).toContain('meanwhile')
  for (let count = 0; count < 20; count++) expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
  expect(isAnswered).toBe(false)
  other.run('ROLLBACK')
  expect((await call).status).toBe(200)
  await reader?.cancel()
})

test('a server that cannot write is not ready', async () => {
  await using installation = new Installation()
  const gateway = await installation.start()
  const ready = () => fetch(`${gateway.url}/readyz`).then(async (response) => [response.status, await response.json()])
  expect(await ready()).toEqual([200, { status: 'ready' }])
  using other = openServerDatabase(installation.databaseUrl)
  for (const change of ['INSERT', 'UPDATE'])
    other.run(`CREATE TRIGGER no_${change} BEFORE ${change} ON nodes BEGIN SELECT RAISE(ABORT, 'full'); END`)
  await until(async () => (await ready())[0] === 503)
  expect(await ready()).toEqual([503, { status: 'the database cannot be written' }])
  for (const change of ['INSERT', 'UPDATE']) other.run(`DROP TRIGGER no_${change}`)
  await until(async () => (await ready())[0] === 200)
})
