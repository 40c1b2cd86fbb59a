import { roles } from '../../../contract/roles.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { providerOf } from '../../providers/registry.ts'

/** What decides where a channel's key is sent. */
interface Destination {
  type: number
  base_url: string
}

/**
 * Refuses an admin who moves a channel to another host without giving its key again: whoever may choose where a key is
 * sent can read it there. The type's own address is nobody's choice, and super admins have the server anyway.
 */
export function refuseLendingKey(role: number, before: Destination, after: Destination): void {
  if (role >= roles.root || after.base_url === '') return
  const host = hostOf(after.base_url)
  if (host === hostOf(before.base_url || ownAddress(before.type)) || host === hostOf(ownAddress(after.type))) return
  throw new ApiFailure('Give the key again: without it only a super admin may move a channel to another host.')
}

function ownAddress(type: number): string {
  return providerOf(type)?.meta.defaultBaseUrl ?? ''
}

/** With the protocol and the port: what listens there may be somebody else. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url
}
