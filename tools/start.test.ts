// Runs the launcher as a user does, with a small server instead of the real one.
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dir, '..')
const base = mkdtempSync(join(tmpdir(), 'tollgate-start-'))
cpSync(join(root, 'tools'), join(base, 'tools'), { recursive: true })
symlinkSync(join(root, 'node_modules'), join(base, 'node_modules'))
cpSync(join(root, 'node_modules/.package-lock.json'), join(base, 'package-lock.json'))
mkdirSync(join(base, 'server'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

const server = `
process.on('exit', () => require('node:fs').writeFileSync('gone', ''))
process.on('disconnect', () => process.exit(0))
process.on('SIGTERM', () => process.exit(7))
const { BUN_CONFIG_MAX_HTTP_REQUESTS: requests, BUN_FEATURE_FLAG_EXPERIMENTAL_HTTP2_CLIENT: http2 } = process.env
const { BUN_JSC_heapGrowthMaxIncrease: growth, BUN_JSC_forceCodeBlockLiveness: keepsCode } = process.env
setInterval(() => {}, 1000)
console.log(JSON.stringify({ requests, http2, growth, keepsCode, args: process.argv.slice(2) }))
`

async function start(program: string, ...args: string[]): Promise<{ launcher: ChildProcess; hello: unknown }> {
  writeFileSync(join(base, 'server/main.ts'), program)
  // Starts the launcher as if by hand, without the environment variables of the tests.
  const { BUN_CONFIG_MAX_HTTP_REQUESTS: _, BUN_FEATURE_FLAG_EXPERIMENTAL_HTTP2_CLIENT: __, ...env } = process.env
  const launcher = spawn('node', ['tools/start.mjs', ...args], { cwd: base, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const hello = await new Promise<unknown>((done, fail) => {
    launcher.stdout.once('data', (line) => done(JSON.parse(String(line))))
    launcher.once('exit', (code) => fail(new Error(`the launcher ended with ${code}`)))
  })
  return { launcher, hello }
}

const ended = (child: ChildProcess) => new Promise<number | null>((done) => child.once('exit', (code) => done(code)))

async function eventually(condition: () => boolean): Promise<boolean> {
  const deadline = Date.now() + 60_000
  while (Date.now() < deadline) {
    if (condition()) return true
    await Bun.sleep(20)
  }
  return false
}

setDefaultTimeout(120_000)

describe('start', () => {
  test("gives the server its environment and arguments, passes SIGTERM on, and exits with the server's exit code", async () => {
    const { launcher, hello } = await start(server, 'audit', '--all')
    expect(hello).toMatchObject({
      requests: '65535',
      http2: '1',
      growth: '0.3',
      keepsCode: '1',
      args: ['audit', '--all'],
    })
    launcher.kill('SIGTERM')
    expect(await ended(launcher)).toBe(7)
  })

  test('leaves no server behind when it is killed', async () => {
    rmSync(join(base, 'gone'), { force: true })
    const { launcher } = await start(server)
    launcher.kill('SIGKILL')
    await ended(launcher)
    // The server writes a file when it ends. Its process id proves nothing, because the process may be a zombie.
    expect(await eventually(() => existsSync(join(base, 'gone')))).toBe(true)
  })

  test.skipIf(process.platform === 'win32')(
    "ends the server when npm is terminated, although npm's shell does not pass the signal on (not on Windows: no signals)",
    async () => {
      rmSync(join(base, 'gone'), { force: true })
      writeFileSync(join(base, 'server/main.ts'), server)
      // The second command keeps the shell from replacing itself with the first.
      const shell = spawn('sh', ['-c', 'node tools/start.mjs; true'], {
        cwd: base,
        env: { ...process.env, npm_lifecycle_event: 'start' },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      await new Promise((done) => shell.stdout.once('data', done))
      shell.kill('SIGTERM')
      expect(await eventually(() => existsSync(join(base, 'gone')))).toBe(true)
    },
  )

  test.skipIf(process.platform === 'win32')(
    'sends the server only one signal to end, even if npm ends afterwards (not on Windows: no signals)',
    async () => {
      rmSync(join(base, 'gone'), { force: true })
      const counting = `
        let told = 0
        process.on('exit', () => require('node:fs').writeFileSync('gone', String(told)))
        process.on('SIGTERM', () => {
          told++
          console.log('told')
          if (told === 1) setTimeout(() => process.exit(), 1000)
        })
        setInterval(() => {}, 1000)
        console.log(process.ppid)`
      writeFileSync(join(base, 'server/main.ts'), counting)
      const shell = spawn('sh', ['-c', 'node tools/start.mjs; true'], {
        cwd: base,
        env: { ...process.env, npm_lifecycle_event: 'start' },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const said = () => new Promise<string>((done) => shell.stdout.once('data', (bytes) => done(String(bytes))))
      const launcher = Number(await said())
      process.kill(launcher, 'SIGTERM')
      expect(await said()).toBe('told\n')
      shell.kill('SIGKILL')
      const counted = () => (existsSync(join(base, 'gone')) ? readFileSync(join(base, 'gone'), 'utf8') : '')
      expect(await eventually(() => counted() !== '')).toBe(true)
      expect(counted()).toBe('1')
    },
  )

  test('exits with the code of a server that cannot start', async () => {
    const { launcher } = await start("console.log('{}')\nsetTimeout(() => process.exit(3), 50)")
    expect(await ended(launcher)).toBe(3)
  })

  test('reports in one sentence that packages could not be installed', async () => {
    const bare = mkdtempSync(join(tmpdir(), 'tollgate-bare-'))
    cpSync(join(root, 'tools'), join(bare, 'tools'), { recursive: true })
    writeFileSync(join(bare, 'package.json'), '{"dependencies":{"bun":"0.0.0"}}')
    const env = { ...process.env, npm_config_offline: 'true', npm_config_cache: join(bare, 'cache') }
    const launcher = spawn('node', ['tools/start.mjs'], { cwd: bare, env, stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    launcher.stderr.on('data', (bytes: Buffer) => {
      said += bytes.toString()
    })
    const code = await new Promise((done) => launcher.once('close', done))
    rmSync(bare, { recursive: true, force: true })
    expect(code).toBe(1)
    expect(said.trimEnd().split('\n').at(-1)).toBe('Tollgate cannot start: npm install failed; its message is above.')
  })
})
