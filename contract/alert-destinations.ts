/** The field of a destination that holds its address: a URL, or the server of the service. */
type UrlField = 'required' | 'server' | 'none'

interface DestinationKind {
  /** `server` means that the service has a usual server, and that the URL is needed only for another one. */
  url: UrlField
  /** The usual server. */
  server?: string
  /** Whether the service needs a token, may have one, or has none. */
  token: 'required' | 'optional' | 'none'
  /** Whether messages can be signed with a secret. */
  secret: boolean
  /** Whether the service needs a recipient: a chat, a topic, an email address. */
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
