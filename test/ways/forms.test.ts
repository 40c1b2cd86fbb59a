// The npm package and the executable file, with which people install Tollgate. Each is built by its own command and
// runs in an empty folder, without other files of the repository.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { version } from '../../server/version.ts'
import { buildExecutable } from '../../tools/executable.mjs'
import { buildPackage } from '../../tools/package.mjs'
import { ok, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { answer, installFor, messages, model, newToken, pricePerCall, promptTokens } from '../money/installed.ts'

const root = resolve(import.meta.dir, '../..')
const base = mkdtempSync(join(tmpdir(), 'tollgate-forms-'))
const minutes = 60_000

/**
 * The environment without the variables that `npm` sets for a script and without Bun's, because a user does not have
 * them.
 */
const bare = Object.fromEntries(
  Object.keys(process.env)
    .filter((name) => /^(?:npm_|BUN_)/.test(name))
    .concat('BUN_CONFIG_MAX_HTTP_REQUESTS', 'BUN_FEATURE_FLAG_EXPERIMENTAL_HTTP2_CLIENT')
    .map((name) => [name, undefined]),
)

afterAll(() => rmSync(base, { recursive: true, force: true }))

/** Unpacks the package as npm does, with its only dependency next to it. Returns the command that starts it. */
async function unpackPackage(): Promise<string[]> {
  const tarball = await buildPackage()
  const modules = join(base, 'node_modules')
  mkdirSync(modules, { recursive: true })
  const unpacked = spawnSync('tar', ['-xzf', tarball, '-C', modules], { encoding: 'utf8' })
  expect(unpacked.stderr).toBe('')
  spawnSync('mv', [join(modules, 'package'), join(modules, 'tollgate')])
  for (const name of ['bun', '@oven']) symlinkSync(join(root, 'node_modules', name), join(modules, name))
  return [Bun.which('node') ?? 'node', join(modules, 'tollgate/bin/tollgate.mjs')]
}

/** Copies the executable away from the repository. Returns the command that starts it. */
async function copyExecutable(): Promise<string[]> {
  const file = join(base, 'tollgate')
  copyFileSync(await buildExecutable(), file)
  return [file]
}

describe.each([
  { form: 'the package for npm', make: unpackPackage, name: 'npx tollgate' },
  { form: 'the executable file', make: copyExecutable, name: 'tollgate' },
])('$form', ({ make, name }) => {
  let program: string[] = []
  beforeAll(async () => {
    program = await make()
  }, 5 * minutes)

  test(
    'starts in an empty folder, serves the console and calls, runs commands, and stops when told to',
    async () => {
      await using upstream = await startFakeUpstream()
      upstream.always(ok({ text: answer, promptTokens }))
      await using installation = new Installation(undefined, { ...bare, SECRET_KEY: undefined }, program)
      expect(readdirSync(installation.folder)).toEqual([])
      const gateway = await installation.start()
      expect(existsSync(join(installation.folder, 'secret.key'))).toBe(true)

      const page = await fetch(gateway.url, { headers: { accept: 'text/html' } })
      const html = await page.text()
      const [script] = /\/assets\/[^"]+\.js/.exec(html) ?? ['/no-script']
      expect((await fetch(gateway.url + script)).headers.get('content-type')).toContain('javascript')

      await installFor(gateway, upstream.url)
      const token = await newToken(gateway, 100_000)
      const response = await gateway.post('/v1/chat/completions', { model, messages }, token.key)
      expect(await response.json()).toMatchObject({ choices: [{ message: { content: answer } }] })
      expect(await gateway.api('GET', `/api/token/${token.id}`)).toMatchObject({ remain_quota: 100_000 - pricePerCall })

      // The next calls need the code of worker threads, which is in separate files.
      const words = [{ role: 'user', content: ' a'.repeat(400) }]
      const counted = await gateway.post('/v1/messages/count_tokens', { model, messages: words }, token.key)
      // Each word is a token. An estimate by length would be lower than the number of words.
      expect(((await counted.json()) as { input_tokens: number }).input_tokens).toBeWithin(400, 420)
      const content = Array.from({ length: 3000 }, () => ({ type: 'text', text: 'hi' }))
      const large = { model, max_tokens: 5, messages: [{ role: 'user', content }] }
      expect((await gateway.post('/v1/messages', large, token.key)).status).toBe(200)

      expect(await installation.run('version')).toMatchObject({
        code: 0,
        output: expect.stringContaining(`Tollgate ${version} (`),
      })
      const help = await installation.run('help', 'audit')
      expect(help.output).toContain(`Usage: ${name} audit`)
      expect(help.output).toContain(`${name} audit --json`)
      expect(await installation.run('audit')).toMatchObject({ code: 0, output: expect.stringContaining('0 faults') })
      expect((await installation.run('no-such-command')).code).toBe(2)

      expect(await gateway.stop()).toBe(0)
      expect(fetch(gateway.url)).rejects.toThrow()
    },
    2 * minutes,
  )

  test(
    'reports what is wrong and ends with code 78 if the configuration is not valid',
    async () => {
      await using installation = new Installation(undefined, { ...bare, PORT: 'ninety' }, program)
      expect(await installation.run()).toEqual({
        code: 78,
        output: 'Configuration: PORT is "ninety", but must be a whole number from 0 to 65535.\n',
      })
    },
    minutes,
  )
})

test(
  'the package contains nothing except what is built, and depends only on the runtime',
  async () => {
    const tarball = await buildPackage()
    const listed = spawnSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).stdout.trim().split('\n')
    const kinds = new Set(
      listed.map((path) => path.replace(/^package\//, '').replace(/^dist\/console\/.*/, 'dist/console')),
    )
    expect([...kinds].sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'bin/tollgate.mjs',
      'dist/console',
      'dist/engine.js',
      'dist/main.js',
      'dist/reader-worker.js',
      'dist/run-command.js',
      'dist/serve.js',
      'dist/tokenizer-worker.js',
      'package.json',
      'tools/bun.mjs',
    ])
    const manifest = spawnSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' }).stdout
    expect(JSON.parse(manifest)).toMatchObject({ version, bin: { tollgate: 'bin/tollgate.mjs' } })
    expect(Object.keys(JSON.parse(manifest).dependencies)).toEqual(['bun'])
  },
  5 * minutes,
)
