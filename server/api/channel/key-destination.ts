import { isSecretHeader } from '../../../contract/api/channel-carries.ts'
import { roles } from '../../../contract/roles.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { providerOf } from '../../providers/registry.ts'
import { type StoredCarries, textsIn } from '../../store/channels/stored-carries.ts'

/** The fields that determine where a channel's key is sent. */
interface Destination {
  type: number
  base_url: string
}

/**
 * Throws ApiFailure if an admin moves a channel to another URL without entering its key again. Otherwise the admin
 * could have the key sent to their own server and read it there. Another path on the same host counts as another URL,
 * because a shared host may serve several customers. The default URL of the type is allowed, because the admin does not
 * choose it. Super admins are allowed, because they control the server anyway.
 */
export function refuseLendingKey(role: number, before: Destination, after: Destination): void {
  if (role >= roles.root || !isMoved(before, after)) return
  throw new ApiFailure('Enter the key again. Only a super admin can move a channel to another URL without it.')
}

/** True if requests would be sent to a different URL that the admin chose. */
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

/** The URL without trailing slashes and without `/v1` at the end, because people may write or omit both. */
function comparableUrl(url: string): string {
  const whole = URL.canParse(url) ? new URL(url).href : url
  return whole.replace(/\/+$/, '').replace(/\/+v1$/, '')
}

/** Everything that determines where a channel's secrets are sent, before or after a change. */
interface Ways {
  destination: Destination
  carries: StoredCarries
}

/**
 * Throws ApiFailure if a change could reveal a secret of the channel to the admin who makes it. A new proxy, or a
 * header that redirects requests, could reveal the key. A new URL or proxy could reveal secret headers. A new proxy
 * could also reveal the login of the previous proxy.
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
