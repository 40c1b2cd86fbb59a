/**
 * What the URL field of a destination is for: the address of the destination, the server of the service, or nothing.
 */
type UrlField = 'required' | 'server' | 'none'

interface DestinationKind {
  /** `server` means that the service has a default server. The URL is needed only for a different one. */
  url: UrlField
  /** The default server. */
  server?: string
  /** Whether a token is required, optional or not used. */
  token: 'required' | 'optional' | 'none'
  /** Whether messages can be signed with a secret. */
  secret: boolean
  /** Whether the service needs a recipient: a chat, a topic or an email address. */
  to: boolean
}

const chat: DestinationKind = { url: 'required', token: 'none', secret: false, to: false }

/** The services to which alerts can be sent, and the fields that each needs. */
export const destinationKinds = {
  mail: { url: 'none', token: 'none', secret: false, to: true },
  webhook: { ...chat, secret: true },
  slack: chat,
  discord: chat,
  telegram: { url: 'server', server: 'https://api.telegram.org', token: 'required', secret: false, to: true },
  feishu: { ...chat, secret: true },
  dingtalk: { ...chat, secret: true },
  wecom: chat,
  bark: { url: 'server', server: 'https://api.day.app', token: 'required', secret: false, to: false },
  ntfy: { url: 'server', server: 'https://ntfy.sh', token: 'optional', secret: false, to: true },
} as const satisfies Readonly<Record<string, DestinationKind>>

export type DestinationKindName = keyof typeof destinationKinds

/** All kinds, in the order in which they are offered. */
export const destinationKindNames = Object.keys(destinationKinds) as [DestinationKindName, ...DestinationKindName[]]

/** The fields that a kind needs. */
export function destinationKind(kind: DestinationKindName): DestinationKind {
  return destinationKinds[kind]
}
