import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import * as fake from '../helpers/fake-upstream.ts'
import { charged, chat, chatStream, expectError, type Rig, see, startRelayRig, until } from './setup.ts'

let rig: Rig
let silent: SilentHost

beforeAll(async () => {
  rig = await startRelayRig({ settings: { ConnectTimeout: '2', FirstByteTimeout: '0' } })
  silent = await startSilentHost()
  await rig.channel({ base_url: `http://127.0.0.1:${silent.port}`, models: 'm2' })
})
afterAll(async () => {
  silent.close()
  await rig[Symbol.asyncDispose]()
})

interface SilentHost {
  port: number
  close(): void
}

/**
 * A port whose connections are never accepted, like that of a frozen process with a full connection queue. The kernel
 * does not respond to further connections, just as with a host that is switched off behind a firewall.
 */
async function startSilentHost(): Promise<SilentHost> {
  const program = `const { createServer } = require('node:net')
    const server = createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port))`
  const child = Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe' })
  const { value } = await child.stdout.getReader().read()
  const port = Number(new TextDecoder().decode(value))
  child.kill('SIGSTOP')
  const waiting: Socket[] = []
  while (await connects(port, waiting));
  return {
    port,
    close() {
      for (const socket of waiting) socket.destroy()
      child.kill('SIGKILL')
    },
  }
}

function connects(port: number, waiting: Socket[]): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  waiting.push(socket)
  socket.on('error', () => undefined)
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true))
    // The connection is certainly accepted within two seconds if the queue has room, even on a busy machine. After
    // that, the queue is full.
    setTimeout(() => resolve(false), 2000)
  })
}

describe('ConnectTimeout', () => {
  for (const [kind, body] of [
    ['plain', chat],
    ['stream', chatStream],
  ] as const) {
    test(`if a host does not respond, the caller gets 504 and nothing is charged (${kind})`, async () => {
      const caller = await rig.caller()
      const seen = await see(rig.gateway.post('/v1/chat/completions', { ...body, model: 'm2' }, caller.token))
      expectError(seen, 504, 'upstream_timeout')
      expect(seen.error?.message).toStartWith('the upstream cannot be reached')
      expect(await charged(rig, caller, 0)).toEqual([])
    }, 120_000)
  }

  test('a caller who disconnects before ConnectTimeout has passed is charged nothing', async () => {
    const caller = await rig.caller()
    const leave = new AbortController()
    const body = { ...chat, model: 'm2' }
    const answer = rig.gateway.post('/v1/chat/completions', body, caller.token, { signal: leave.signal })
    await until(async () => (await rig.gateway.balances(caller.userId, caller.tokenId)).holds === 1)
    leave.abort()
    await answer.catch(() => undefined)
    expect(await charged(rig, caller, 0)).toEqual([])
  }, 120_000)

  test('the timeout does not apply if the upstream accepts the connection and responds late', async () => {
    const caller = await rig.caller()
    rig.upstream.next(fake.late(3000, fake.okChat()))
    const seen = await see(rig.gateway.post('/v1/chat/completions', chat, caller.token))
    expect(seen.status).toBe(200)
    await charged(rig, caller, 15)
  })

  test('after the timeout, another channel is tried', async () => {
    await rig.channel({ base_url: `http://127.0.0.1:${silent.port}`, priority: 5 })
    await rig.gateway.setOption('RetryTimes', '1')
    const caller = await rig.caller()
    const seen = await see(rig.gateway.post('/v1/chat/completions', chat, caller.token))
    expect(seen.status).toBe(200)
    const [row] = await charged(rig, caller, 15)
    expect(JSON.parse(row?.attempts ?? '')).toMatchObject([{ status: 0 }, { status: 200 }])
  }, 120_000)
})
