/** Lines for a file, or for a shell if `file` is absent. */
export interface SetupBlock {
  file?: string
  code: string
}

/** How to set up a coding agent that uses OpenAI's format. */
export interface AgentSetup {
  id: string
  name: string
  blocks: readonly SetupBlock[]
}

const json = (value: unknown) => JSON.stringify(value, undefined, 2)

/**
 * Setups of coding agents. `npm run clients` tests these programs with the same settings. The exception is crush,
 * because its package downloads the program from another site. `exported` writes lines that set variables.
 */
export function agentSetups(
  server: string,
  key: string,
  model: string,
  exported: (variables: Record<string, string>) => string,
): AgentSetup[] {
  const baseUrl = `${server}/v1`
  return [
    {
      id: 'opencode',
      name: 'opencode',
      blocks: [{ file: '~/.config/opencode/opencode.json', code: opencode(baseUrl, key, model) }],
    },
    {
      id: 'qwen-code',
      name: 'qwen-code',
      blocks: [{ code: exported({ OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: key, OPENAI_MODEL: model }) }],
    },
    {
      id: 'copilot-cli',
      name: 'Copilot CLI',
      blocks: [
        {
          code: exported({ COPILOT_PROVIDER_BASE_URL: baseUrl, COPILOT_PROVIDER_API_KEY: key, COPILOT_MODEL: model }),
        },
      ],
    },
    {
      id: 'cline',
      name: 'cline',
      blocks: [{ file: '~/.cline/data/settings/providers.json', code: cline(baseUrl, key, model) }],
    },
    { id: 'pi', name: 'pi', blocks: [{ file: '~/.pi/agent/models.json', code: pi(baseUrl, key, model) }] },
    { id: 'crush', name: 'crush', blocks: [{ file: '~/.config/crush/crush.json', code: crush(baseUrl, key, model) }] },
    {
      id: 'continue',
      name: 'Continue',
      blocks: [{ file: '~/.continue/config.yaml', code: continued(baseUrl, key, model) }],
    },
  ]
}

function opencode(baseURL: string, apiKey: string, model: string): string {
  const options = { baseURL, apiKey }
  return json({
    model: `gateway/${model}`,
    provider: {
      gateway: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Gateway',
        options,
        models: { [model]: { name: model, tool_call: true } },
      },
    },
  })
}

function cline(baseUrl: string, apiKey: string, model: string): string {
  const provider = 'openai-compatible'
  const settings = { provider, apiKey, model, baseUrl }
  return json({
    version: 1,
    lastUsedProvider: provider,
    modes: {},
    providers: { [provider]: { settings, updatedAt: '2026-01-01T00:00:00.000Z', tokenSource: 'manual' } },
  })
}

function pi(baseUrl: string, apiKey: string, model: string): string {
  return json({ providers: { gateway: { baseUrl, api: 'openai-completions', apiKey, models: [{ id: model }] } } })
}

function crush(baseUrl: string, apiKey: string, model: string): string {
  const models = [{ id: model, name: model, context_window: 128_000, default_max_tokens: 8000 }]
  return json({
    providers: { gateway: { name: 'Gateway', type: 'openai-compat', base_url: baseUrl, api_key: apiKey, models } },
  })
}

function continued(baseUrl: string, key: string, model: string): string {
  return `name: Gateway
version: 1.0.0
schema: v1
models:
  - name: ${JSON.stringify(model)}
    provider: openai
    model: ${JSON.stringify(model)}
    apiBase: ${JSON.stringify(baseUrl)}
    apiKey: ${JSON.stringify(key)}
    roles: [chat, edit, apply]
    capabilities: [tool_use]`
}
