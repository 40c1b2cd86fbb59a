import { isSecretHeader } from '../../../contract/api/channel-carries.ts'
import { roles } from '../../../contract/roles.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { providerOf } from '../../providers/registry.ts'
import { type StoredCarries, textsIn } from '../../store/channels/stored-carries.ts'

/** The fields that decide where a channel's key is sent. */
interface Destination {
  type: number
  base_url: string
}

/**
 * Refuses an admin who moves a channel to another address without giving its key again. Anyone who chooses where a key
 * is sent can read it there, and on a shared host another path may belong to somebody else. The type's default address
 * is allowed because the admin does not choose it, and super admins control the server anyway.
 */
export function refuseLendingKey(role: number, before: Destination, after: Destination): void {
  if (role >= roles.root || !isMoved(before, after)) return
  throw new ApiFailure('Enter the key again. Only a super admin can move a channel to another URL without it.')
}

/** True if calls would go to another address that the admin chose. */
function isMoved(before: Destination, after: Destination): boolean {
  if (after.base_url === '') return false
  const url = comparableUrl(after.base_url)
  return (
    url !== comparableUrl(before.base_url || ownAddress(before.type)) && url !== comparableUrl(ownAddress(after.type))
  )
}

function ownAddress(type: number): string {
  return providerOf(type)?.meta.defaultBaseUrl ?? ''
}

/** The URL without the version and the slashes at its end, because people can write or omit them. */
function comparableUrl(url: string): string {
  const whole = URL.canParse(url) ? new URL(url).href : url
  return whole.replace(/\/+$/, '').replace(/\/+v1$/, '')
}

/** What a change does to the ways on which secrets leave, before and after. */
interface Ways {
  destination: Destination
  carries: StoredCarries
}

/**
 * Refuses an admin who would get at a secret that is stored with the channel: the key by a proxy or a header that says
 * where to send it, the secret headers by another address, and the login of the proxy by another proxy.
 */
export function refuseLendingSecrets(
  role: number,
  before: Ways,
  after: Ways,
  sent: { isKeyReplaced: boolean; headers: Readonly<Record<string, string>> | undefined; login: string | undefined },
): void {
  if (role >= roles.root) return
  const isOtherProxy = after.carries.proxy !== '' && after.carries.proxy !== before.carries.proxy
  const [old, now] = [textsIn(before.carries.headers), textsIn(after.carries.headers)]
  if (!sent.isKeyReplaced) {
    if (isOtherProxy) throw new ApiFailure('Enter the key again. Only a super admin can set another proxy without it.')
    if (Object.entries(now).some(([name, value]) => !Object.hasOwn(old, name) || old[name] !== value))
      throw new ApiFailure('Enter the key again. Only a super admin can add or change headers without it.')
  }
  const entered = new Set(
    Object.entries(sent.headers ?? {}).flatMap(([name, value]) =>
      value.trim() === '' ? [] : [name.trim().toLowerCase()],
    ),
  )
  const isKept = (name: string) => isSecretHeader(name) && old[name] === now[name] && !entered.has(name)
  if ((isOtherProxy || isMoved(before.destination, after.destination)) && Object.keys(now).some(isKept))
    throw new ApiFailure('Enter the values of the secret headers again. Only a super admin can move them.')
  if (isOtherProxy && before.carries.proxy_login !== '' && after.carries.proxy_login !== '' && !sent.login)
    throw new ApiFailure('Enter the login of the proxy again. Only a super admin can move it to another proxy.')
}
