import { join } from 'node:path'
import { noteName, prompt } from './tasks.ts'

/** What a program needs to know of the gateway and of its place. */
export interface Place {
  /** The gateway's address, without a path. */
  url: string
  token: string
  /** A home of its own, in which nothing else is. */
  home: string
  /** The folder with the note, which it works in. */
  folder: string
}

/** How a client is started for one task. */
interface Start {
  args: readonly string[]
  env?: Readonly<Record<string, string>>
  /** Files that it reads its settings from, by their path below its home. */
  files?: Readonly<Record<string, string>>
}

/** A program or a library that asks a model and runs tools. */
export interface Client {
  name: string
  /** The folder that it is installed in. */
  id: string
  /** Its packages from npm with their versions; the first is the one that the table names. */
  packages: Readonly<Record<string, string>>
  /** The dialect it speaks to the gateway. */
  speaks: 'chat' | 'Responses' | 'Messages' | 'Gemini'
  model: string
  /** The program among those that npm links, or a script beside this file. */
  run: { program: string } | { script: string }
  start(place: Place): Start
}

const json = (value: unknown) => JSON.stringify(value, undefined, 2)

const claudeCode: Client = {
  name: 'Claude Code',
  id: 'claude-code',
  packages: { '@anthropic-ai/claude-code': '2.1.332' },
  speaks: 'Messages',
  model: 'claude-sonnet-4-6',
  run: { program: 'claude' },
  start: ({ url, token }) => ({
    args: ['-p', prompt, '--model', 'claude-sonnet-4-6', '--allowedTools', 'Read,Edit,Bash', '--output-format', 'json'],
    env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: token, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
  }),
}

const codexArgs = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '-m', 'gpt-5.1-codex']

const codex: Client = {
  name: 'Codex',
  id: 'codex',
  packages: { '@openai/codex': '0.171.0' },
  speaks: 'Responses',
  model: 'gpt-5.1-codex',
  run: { program: 'codex' },
  start: ({ url, token }) => ({
    args: [...codexArgs, prompt],
    env: { TOLLGATE_KEY: token },
    files: {
      '.codex/config.toml': `model_provider = "tollgate"
[model_providers.tollgate]
name = "Tollgate"
base_url = "${url}/v1"
env_key = "TOLLGATE_KEY"
wire_api = "responses"
`,
    },
  }),
}

const geminiCli: Client = {
  name: 'Gemini CLI',
  id: 'gemini-cli',
  packages: { '@google/gemini-cli': '0.61.0' },
  speaks: 'Gemini',
  model: 'gemini-2.5-flash',
  run: { program: 'gemini' },
  start: ({ url, token }) => ({
    args: ['-p', prompt, '-m', 'gemini-2.5-flash', '--yolo', '--skip-trust', '-o', 'json'],
    env: { GEMINI_API_KEY: token, GOOGLE_GEMINI_BASE_URL: url },
    files: {
      '.gemini/settings.json': json({
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
      }),
    },
  }),
}

/** Every client, in the order of the table. */
export const clients: readonly Client[] = [claudeCode, codex, geminiCli]

/** Where the note of a task is. */
export const noteOf = ({ folder }: Pick<Place, 'folder'>): string => join(folder, noteName)
