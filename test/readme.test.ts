// The first call in the README, made as a reader would make it: with a separate server, bash and curl.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { serverProgram } from '../tools/server-build.mjs'
import { answerByPath, type FakeUpstream, startFakeUpstream } from './helpers/fake-upstream.ts'

const root = resolve(import.meta.dir, '..')
const password = 'a password of my own'
const accessToken = 'access token of the readme test'
const given = 100_000

const missing = ['bash', 'curl'].filter((program) => !Bun.which(program))
const why = missing.length > 0 ? ` (this machine has no ${missing.join(' and no ')})` : ''

/** The text of the script in README.md. */
function firstCall(): string {
  const script = /^```bash first-call\n(.*?)^```$/ms.exec(readFileSync(join(root, 'README.md'), 'utf8'))?.[1]
  if (script === undefined) throw new Error('README.md has no block "```bash first-call"')
  return script
}

interface Row {
  quota: number
  is_stream: boolean
  token_name: string
}

const folder = mkdtempSync(join(tmpdir(), 'tollgate-readme-'))
const environment = { PATH: process.env.PATH ?? '', DATA_DIR: folder }
let upstream: FakeUpstream
let server: ChildProcess
let url = ''

/** Runs a program until it ends, and returns its output. */
async function run(
  program: string,
  args: string[],
  env: Record<string, string>,
): Promise<{ code: number; out: string }> {
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  const [code] = (await once(child, 'close')) as [number]
  return { code, out }
}

async function data<T>(path: string): Promise<T> {
  const response = await fetch(url + path, { headers: { authorization: accessToken } })
  return ((await response.json()) as { data: T }).data
}

beforeAll(async () => {
  upstream = await startFakeUpstream()
  upstream.always(answerByPath())
  // The working directory is a separate folder, so that no .env file of this machine has an effect.
  server = spawn(process.execPath, [serverProgram()], {
    cwd: folder,
    env: {
      ...environment,
      PORT: '0',
      HOST: '127.0.0.1',
      INITIAL_ROOT_PASSWORD: password,
      INITIAL_ROOT_ACCESS_TOKEN: accessToken,
    },
    // The 'ipc' channel closes when the test run ends, for whatever reason, so that the server does not outlive the
    // run.
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const lines = createInterface({ input: server.stdout as NodeJS.ReadableStream })
  for await (const line of lines) {
    url = /Tollgate listens on (http:[^"]+)/.exec(line)?.[1] ?? ''
    if (url !== '') break
  }
  if (url === '') throw new Error('the server ended before it listened')
  // The rest of the server's output must be read, or the pipe would fill up.
  server.stdout?.resume()
}, 120_000)

afterAll(async () => {
  const ended = server.exitCode === null ? once(server, 'exit') : undefined
  server.kill('SIGTERM')
  await ended
  await upstream.close()
  rmSync(folder, { recursive: true, force: true })
}, 120_000)

describe('the README', () => {
  test('has a first call that fits on one screen', () => {
    expect(firstCall().trimEnd().split('\n').length).toBeLessThan(30)
  })

  test.skipIf(missing.length > 0)(
    `shows a first call that works as written${why}`,
    async () => {
      const { code, out } = await run('bash', ['-c', firstCall()], {
        ...environment,
        GATE: url,
        PASSWORD: password,
        UPSTREAM: upstream.url,
        UPSTREAM_KEY: 'key of the upstream',
      })
      expect(code).toBe(0)
      expect(out).not.toContain('"success":false')
      expect(out).toContain('Hello from the fake upstream.')
      expect(out).toContain('data: [DONE]')
      expect(upstream.last.headers.get('authorization')).toBe('Bearer key of the upstream')

      // The last three lines of the output are the log rows, the token and the user.
      const [log = '', tokenShown = '', userShown = ''] = out.trim().split('\n').slice(-3)
      const shown = JSON.parse(log) as { data: Row[] }
      expect(shown.data.map((row) => [row.is_stream, row.token_name])).toEqual([
        [true, 'first'],
        [false, 'first'],
      ])
      const charged = shown.data.reduce((sum, row) => sum + row.quota, 0)
      expect(charged).toBeGreaterThan(0)
      expect(JSON.parse(tokenShown)).toMatchObject({ data: [{ used_quota: charged }] })
      expect(JSON.parse(userShown)).toMatchObject({ data: { used_quota: charged } })
      const [token] = await data<{ remain_quota: number; used_quota: number }[]>('/api/token/')
      expect(token).toMatchObject({ used_quota: charged, remain_quota: given - charged })
      const user = await data<{ quota: number; used_quota: number; request_count: number }>('/api/user/self')
      expect(user).toMatchObject({ used_quota: charged, request_count: 2 })
      expect(await data<unknown>('/api/channel/1')).toMatchObject({ used_quota: charged, models: 'gpt-4o-mini' })
    },
    120_000,
  )

  test('says that the audit finds no faults in the ledger, and this is true', async () => {
    const { code, out } = await run(process.execPath, [serverProgram(), 'audit'], environment)
    expect(out).toContain('0 faults')
    expect(code).toBe(0)
  }, 120_000)
})
