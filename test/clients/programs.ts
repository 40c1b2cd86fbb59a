import { join } from 'node:path'
import { noteName, prompt } from './tasks.ts'

/** The settings of a program: how to reach the gateway, and its own folders. */
export interface Place {
  /** The gateway's address, without a path. */
  url: string
  token: string
  /** A separate home folder with nothing else in it. */
  home: string
  /** The working folder, which contains the note. */
  folder: string
}

/** How a client is started for one task. */
interface Start {
  args: readonly string[]
  env?: Readonly<Record<string, string>>
  /** The client's configuration files, by their path below its home folder. */
  files?: Readonly<Record<string, string>>
}

/** A program or a library that calls a model and runs tools. */
export interface Client {
  name: string
  /** The folder in which the client is installed. */
  id: string
  /**
   * The client's packages from npm, or from PyPI if its script is in Python. The table shows the version of the first
   * one.
   */
  packages: Readonly<Record<string, string>>
  /** The dialect in which the client calls the gateway. */
  speaks: 'chat' | 'Responses' | 'Messages' | 'Gemini'
  model: string
  /** One of the programs that npm links, or a script in the `scripts` folder beside this file. */
  run: { program: string } | { script: string }
  /** Error codes of the gateway after which the client must continue its task by itself. */
  expects?: readonly string[]
  /** The client asks for an answer that matches a JSON schema, instead of performing the task with tools. */
  asksForObject?: true
  /** The client's script also makes one call with an unknown token. */
  asksWithWrongToken?: true
  start(place: Place): Start
}

const json = (value: unknown) => JSON.stringify(value, undefined, 2)

/** Claude Code, which calls the Messages API. */
export const claudeCode: Client = {
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

const codexArgs = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '-m']

const codex: Client = {
  name: 'Codex',
  id: 'codex',
  packages: { '@openai/codex': '0.171.0' },
  speaks: 'Responses',
  model: 'gpt-5.1-codex',
  run: { program: 'codex' },
  start: ({ url, token }) => ({
    args: [...codexArgs, 'gpt-5.1-codex', prompt],
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

/** Gemini CLI, which calls the Gemini API. */
export const geminiCli: Client = {
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

const codexFreeform: Client = {
  ...codex,
  name: 'Codex, with freeform tools and zstd',
  // Codex offers plain-text tools only for models that it knows.
  model: 'gpt-5.5',
  // Codex compresses its requests only if a user is logged in. So this test writes Codex's login file itself, with the
  // gateway's token as the access token.
  start: ({ url, token }) => ({
    args: [...codexArgs, 'gpt-5.5', prompt],
    files: {
      '.codex/config.toml': `model_provider = "tollgate"
chatgpt_base_url = "${url}/none"
[features]
apply_patch_freeform = true
enable_request_compression = true
[model_providers.tollgate]
name = "OpenAI"
base_url = "${url}/v1"
wire_api = "responses"
requires_openai_auth = true
supports_websockets = false
`,
      '.codex/auth.json': json(signedIn(token)),
    },
  }),
}

function signedIn(token: string) {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = {
    email: 'someone@example.com',
    exp: 4_000_000_000,
    'https://api.openai.com/auth': { chatgpt_plan_type: 'pro', chatgpt_account_id: 'account' },
  }
  return {
    auth_mode: 'chatgpt',
    OPENAI_API_KEY: null,
    tokens: {
      id_token: `${part({ alg: 'none' })}.${part(claims)}.c2ln`,
      access_token: token,
      refresh_token: 'none',
      account_id: 'account',
    },
    last_refresh: new Date().toISOString(),
  }
}

/** Codex, which keeps a WebSocket open for its turns and asks the service to shorten a conversation of 1,000 tokens. */
export const codexSockets: Client = {
  ...codex,
  name: 'Codex, with WebSockets and compaction by the service',
  model: 'gpt-5.5',
  start: ({ url, token }) => ({
    args: [...codexArgs, 'gpt-5.5', prompt],
    env: { TOLLGATE_KEY: token },
    files: {
      '.codex/config.toml': `model_provider = "tollgate"
model_auto_compact_token_limit = 1000
[model_providers.tollgate]
name = "OpenAI"
base_url = "${url}/v1"
env_key = "TOLLGATE_KEY"
wire_api = "responses"
supports_websockets = true
`,
    },
  }),
}

const opencode: Client = {
  name: 'opencode',
  id: 'opencode',
  packages: { 'opencode-ai': '1.18.33' },
  speaks: 'chat',
  model: 'any-model',
  run: { program: 'opencode' },
  start: ({ url, token }) => ({
    args: ['run', '--auto', '-m', 'tollgate/any-model', prompt],
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
    files: {
      '.config/opencode/opencode.json': json({
        provider: {
          tollgate: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${url}/v1`, apiKey: token },
            models: { 'any-model': { name: 'Any model', tool_call: true, limit: { context: 200_000, output: 8000 } } },
          },
        },
      }),
    },
  }),
}

const pi: Client = {
  name: 'pi',
  id: 'pi',
  packages: { '@earendil-works/pi-coding-agent': '1.6.0' },
  speaks: 'chat',
  model: 'any-model',
  run: { program: 'pi' },
  start: ({ url, token }) => ({
    args: ['-p', '--offline', '--no-session', '--provider', 'tollgate', '--model', 'any-model', prompt],
    env: { PI_OFFLINE: '1' },
    files: {
      '.pi/agent/models.json': json({
        providers: {
          tollgate: { baseUrl: `${url}/v1`, api: 'openai-completions', apiKey: token, models: [{ id: 'any-model' }] },
        },
      }),
    },
  }),
}

const qwenCode: Client = {
  name: 'qwen-code',
  id: 'qwen-code',
  packages: { '@qwen-code/qwen-code': '0.24.4' },
  speaks: 'chat',
  model: 'any-model',
  run: { program: 'qwen' },
  start: ({ url, token }) => ({
    args: ['--auth-type', 'openai', '-m', 'any-model', '--yolo', '--telemetry', 'false', prompt],
    env: { OPENAI_API_KEY: token, OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'any-model' },
  }),
}

const copilot: Client = {
  name: 'Copilot CLI',
  id: 'copilot',
  packages: { '@github/copilot': '1.0.102' },
  speaks: 'chat',
  model: 'any-model',
  run: { program: 'copilot' },
  start: ({ url, token }) => ({
    args: ['-p', prompt, '--allow-all-tools', '--allow-all-paths', '--no-color'],
    env: {
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: token,
      COPILOT_MODEL: 'any-model',
      COPILOT_OFFLINE: 'true',
      COPILOT_AUTO_UPDATE: 'false',
    },
  }),
}

const cline: Client = {
  name: 'cline',
  id: 'cline',
  packages: { cline: '3.0.65' },
  speaks: 'chat',
  model: 'any-model',
  run: { program: 'cline' },
  start: ({ url, token }) => ({
    args: ['-P', 'openai-compatible', '-m', 'any-model', prompt],
    files: {
      '.cline/data/settings/providers.json': json({
        version: 1,
        lastUsedProvider: 'openai-compatible',
        modes: {},
        providers: {
          'openai-compatible': {
            settings: { provider: 'openai-compatible', apiKey: token, model: 'any-model', baseUrl: `${url}/v1` },
            updatedAt: '2026-01-01T00:00:00.000Z',
            tokenSource: 'manual',
          },
        },
      }),
    },
  }),
}

const continueCli: Client = {
  name: 'Continue',
  id: 'continue',
  packages: { '@continuedev/cli': '1.5.47' },
  speaks: 'chat',
  model: 'any-model',
  run: { program: 'cn' },
  start: ({ url, token, home }) => ({
    args: ['-p', '--auto', '--config', join(home, '.continue/config.yaml'), prompt],
    env: { CONTINUE_TELEMETRY_ENABLED: '0' },
    files: {
      '.continue/config.yaml': `name: Gateway
version: 1.0.0
schema: v1
models:
  - name: any-model
    provider: openai
    model: any-model
    apiBase: "${url}/v1"
    apiKey: "${token}"
    roles: [chat, edit, apply]
    capabilities: [tool_use]
`,
    },
  }),
}

/** Every program, in the order of the table. */
export const programs: readonly Client[] = [
  claudeCode,
  codex,
  codexFreeform,
  geminiCli,
  opencode,
  pi,
  qwenCode,
  copilot,
  cline,
  continueCli,
]

/** The path of a task's note. */
export const noteOf = ({ folder }: Pick<Place, 'folder'>): string => join(folder, noteName)
