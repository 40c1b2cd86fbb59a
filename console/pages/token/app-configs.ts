import { serverAddress } from '../../lib/server-address.ts'
import { agentSetups, type SetupBlock } from './agent-configs.ts'
import { appLinks } from './app-links.ts'
import { desktopLinks } from './desktop-links.ts'

/** How an app is set up: with lines for a shell or a file, or with a link that opens the app. */
export type AppSetup =
  | { id: string; name: string; blocks: readonly SetupBlock[] }
  | { id: string; name: string; href: string }

/** Shell lines that set variables. */
const exported = (variables: Record<string, string>) =>
  Object.entries(variables)
    .map(([name, value]) => `export ${name}=${quoted(value)}`)
    .join('\n')

/**
 * Quotes a word for a shell. This is needed because administrators can type any model name, and users run these lines.
 */
function quoted(word: string): string {
  return /^[\w.:/@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

const codexFile = (server: string, model: string) => `model = ${JSON.stringify(model)}
model_provider = "gateway"

[model_providers.gateway]
name = "Gateway"
base_url = "${server}/v1"
env_key = "GATEWAY_KEY"
wire_api = "responses"`

/**
 * Setups of apps, with the key, the server's address and the model filled in. Each app uses the API format of its
 * vendor; the gateway accepts all these formats. `linkName` returns the name of an app that a link opens.
 */
export function appSetups(key: string, model: string, linkName: (link: ReturnType<typeof appLinks>[number]) => string) {
  const server = serverAddress()
  const setups: AppSetup[] = [
    {
      id: 'claude-code',
      name: 'Claude Code',
      blocks: [{ code: exported({ ANTHROPIC_BASE_URL: server, ANTHROPIC_AUTH_TOKEN: key, ANTHROPIC_MODEL: model }) }],
    },
    {
      id: 'codex',
      name: 'Codex',
      blocks: [
        { file: '~/.codex/config.toml', code: codexFile(server, model) },
        { code: exported({ GATEWAY_KEY: key }) },
      ],
    },
    {
      id: 'gemini-cli',
      name: 'Gemini CLI',
      blocks: [{ code: exported({ GOOGLE_GEMINI_BASE_URL: server, GEMINI_API_KEY: key, GEMINI_MODEL: model }) }],
    },
    ...agentSetups(server, key, model, exported),
    {
      id: 'open-webui',
      name: 'Open WebUI',
      blocks: [{ code: exported({ OPENAI_API_BASE_URL: `${server}/v1`, OPENAI_API_KEY: key }) }],
    },
    ...desktopLinks(key, model),
    ...appLinks(key).map((link) => ({ id: link.id, name: linkName(link), href: link.href })),
  ]
  return setups
}
