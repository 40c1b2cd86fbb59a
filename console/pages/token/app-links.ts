import { serverAddress } from '../../lib/server-address.ts'
import { serverStatus } from '../../lib/status.ts'
import type { MessageKey } from '../../messages/namespaces.ts'

/** A client app that can be set up with a link. */
export interface AppLink {
  id: 'next' | 'ama' | 'opencat'
  name: Extract<MessageKey, `token.app.${'next' | 'ama' | 'opencat'}`>
  href: string
}

/**
 * Links that set up client apps with the key and the server's address. The web chat is included only if it is
 * configured.
 */
export function appLinks(key: string): AppLink[] {
  const server = serverAddress()
  const encoded = encodeURIComponent(server)
  const chat = serverStatus().chat_link?.replace(/\/+$/, '')
  return [
    ...(chat
      ? [
          {
            id: 'next' as const,
            name: 'token.app.next' as const,
            href: `${chat}/#/?settings={"key":"${key}","url":"${server}"}`,
          },
        ]
      : []),
    { id: 'ama', name: 'token.app.ama', href: `ama://set-api-key?server=${encoded}&key=${key}` },
    { id: 'opencat', name: 'token.app.opencat', href: `opencat://team/join?domain=${encoded}&token=${key}` },
  ]
}
