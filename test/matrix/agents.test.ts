// Programs that work with files by themselves, each reading one through a loop of two steps. They are large, so that only
// who has them installed can run this: AGENT_PROGRAMS=<folder> names a folder where npm installed
// @anthropic-ai/claude-code, @openai/codex and @google/gemini-cli.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '../../server/lib/json.ts'
import { behaviour } from '../helpers/fake-upstream.ts'
import { type Bench, startMatrixBench } from './support/bench.ts'
import type { Fake } from './support/fakes/fake.ts'
import { fakeOf, says } from './support/fakes/index.ts'

const programs = process.env['AGENT_PROGRAMS'] ?? ''
const secret = 'PURPLE-ELEPHANT-77'
const prompt = 'Read the file note.txt in the current folder and tell me what it says.'

interface Agent {
  name: string
  program: string
  model: string
  /** The tool that reads a file, and its input. */
  tool(note: string): { name: string; input: JsonObject }
  args: readonly string[]
  env(url: string, token: string): Record<string, string>
}

const agents: readonly Agent[] = [
  {
    name: 'Claude Code',
    program: 'claude',
    model: 'claude-sonnet-4-6',
    tool: (note) => ({ name: 'Read', input: { file_path: note } }),
    args: ['-p', prompt, '--model', 'claude-sonnet-4-6', '--allowedTools', 'Read', '--output-format', 'json'],
    env: (url, token) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: token,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }),
  },
  {
    name: 'Codex',
    program: 'codex',
    model: 'gpt-5.1-codex',
    tool: () => ({ name: 'exec_command', input: { cmd: 'cat note.txt' } }),
    args: [
      'exec',
      '--skip-git-repo-check',
      '--dangerously-bypass-approvals-and-sandbox',
      '-m',
      'gpt-5.1-codex',
      prompt,
    ],
    env: (_url, token) => ({ TOLLGATE_KEY: token }),
  },
  {
    name: 'Gemini CLI',
    program: 'gemini',
    model: 'gemini-2.5-flash',
    tool: (note) => ({ name: 'read_file', input: { file_path: note } }),
    args: ['-p', prompt, '-m', 'gemini-2.5-flash', '--yolo', '--skip-trust', '-o', 'json'],
    env: (url, token) => ({ GEMINI_API_KEY: token, GOOGLE_GEMINI_BASE_URL: url }),
  },
]

/** Formats of upstreams, with a channel type of each. */
const upstreams: readonly (readonly [provider: string, dialect: string, type: number])[] = [
  ['custom', 'openai-chat', 8],
  ['anthropic', 'anthropic-messages', 14],
  ['gemini', 'gemini', 24],
]

let bench: Bench
let folder = ''
beforeAll(async () => {
  bench = await startMatrixBench(agents.map(({ model }) => model))
  folder = mkdtempSync(join(tmpdir(), 'tollgate-agent-'))
  writeFileSync(join(folder, 'note.txt'), `The password is ${secret}.\n`)
  mkdirSync(join(folder, '.gemini'))
  const auth = { security: { auth: { selectedType: 'gemini-api-key' } }, privacy: { usageStatisticsEnabled: false } }
  writeFileSync(join(folder, '.gemini/settings.json'), JSON.stringify(auth))
  mkdirSync(join(folder, '.codex'))
  const provider = `name = "Tollgate"\nbase_url = "${bench.gateway.url}/v1"\nenv_key = "TOLLGATE_KEY"\nwire_api = "responses"\n`
  writeFileSync(
    join(folder, '.codex/config.toml'),
    `model_provider = "tollgate"\n[model_providers.tollgate]\n${provider}`,
  )
})
afterAll(async () => {
  await bench[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** A model that reads the note and then says what stands in it; whatever else is asked it answers with a word. */
function reader(fake: Fake, { tool }: Agent) {
  return behaviour('reads the note', (exchange) => {
    const asked = Buffer.from(exchange.request.body).toString()
    const { name, input } = tool(join(folder, 'note.txt'))
    const said = { thought: '', text: '', calls: [] }
    if (asked.includes(secret)) return says(fake, { ...said, text: `The note says ${secret}.` }).run(exchange)
    if (!asked.includes(`"${name}"`)) return says(fake, { ...said, text: 'ok' }).run(exchange)
    return says(fake, { ...said, calls: [{ id: 'call_1', name, input }] }).run(exchange)
  })
}

describe.skipIf(programs === '' || !existsSync(join(programs, 'node_modules/.bin')))(
  'programs that work with files (skipped without AGENT_PROGRAMS)',
  () => {
    for (const agent of agents) {
      for (const [provider, dialect, type] of upstreams) {
        test(`${agent.name} reads a file with a service that speaks ${dialect}`, { timeout: 120_000 }, async () => {
          bench.answer(reader(fakeOf(provider, dialect), agent))
          const token = await bench.token({ type, name: agent.name })
          const before = await bench.logCount()
          const child = Bun.spawn([join(programs, 'node_modules/.bin', agent.program), ...agent.args], {
            cwd: folder,
            env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...agent.env(bench.gateway.url, token) },
            stdin: 'ignore',
            stdout: 'pipe',
            stderr: 'pipe',
          })
          const [output, errors] = await Promise.all([
            new Response(child.stdout).text(),
            new Response(child.stderr).text(),
          ])
          expect({ exit: await child.exited, output, errors }).toMatchObject({
            exit: 0,
            output: expect.stringContaining(secret),
          })
          expect((await bench.logCount()) - before).toBeGreaterThanOrEqual(2)
          expect((await bench.lastLog()).outcome).toBe('complete')
        })
      }
    }
  },
)
