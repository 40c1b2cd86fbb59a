import { roles } from '../../../contract/roles.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { providerOf } from '../../providers/registry.ts'

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
  if (role >= roles.root || after.base_url === '') return
  const url = comparableUrl(after.base_url)
  if (
    url === comparableUrl(before.base_url || ownAddress(before.type)) ||
    url === comparableUrl(ownAddress(after.type))
  )
    return
  throw new ApiFailure('Enter the key again. Only a super admin can move a channel to another URL without it.')
}

function ownAddress(type: number): string {
  return providerOf(type)?.meta.defaultBaseUrl ?? ''
}

/** The URL without the version and the slashes at its end, because people can write or omit them. */
function comparableUrl(url: string): string {
  const whole = URL.canParse(url) ? new URL(url).href : url
  return whole.replace(/\/+$/, '').replace(/\/+v1$/, '')
}
