import { serverAddress } from '../../lib/server-address.ts'

/** A link that makes a program on this computer add the gateway. */
export interface DesktopLink {
  id: string
  name: string
  href: string
}

/** The programs that cc-switch sets up, with the path that each of them needs after the address of the gateway. */
const switched = [
  { app: 'claude', name: 'Claude Code', path: '' },
  { app: 'codex', name: 'Codex', path: '/v1' },
  { app: 'gemini', name: 'Gemini CLI', path: '' },
] as const

/** Links for cc-switch, which sets up coding agents, and for Cherry Studio. */
export function desktopLinks(key: string, model: string): DesktopLink[] {
  const server = serverAddress()
  const name = new URL(server).host
  const provider = { id: name, name, baseUrl: server, apiKey: key, type: 'openai' }
  return [
    ...switched.map(({ app, name: program, path }) => ({
      id: `cc-switch-${app}`,
      name: `cc-switch (${program})`,
      href: `ccswitch://v1/import?${new URLSearchParams({
        resource: 'provider',
        app,
        name,
        endpoint: server + path,
        apiKey: key,
        model,
        homepage: server,
      })}`,
    })),
    {
      id: 'cherry-studio',
      name: 'Cherry Studio',
      href: `cherrystudio://providers/api-keys?v=1&data=${encodeURIComponent(btoa(JSON.stringify(provider)))}`,
    },
  ]
}
