import { ApiFailure } from '../http/api-failure.ts'
import type { Settings } from '../settings/settings.ts'

/** True if the options allow this address, because its exact domain is on the list or there is no list. */
export function isAllowedAddress(settings: Settings, email: string): boolean {
  if (!settings.EmailDomainRestrictionEnabled) return true
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase()
  return settings.EmailDomainWhitelist.some((allowed) => allowed.toLowerCase() === domain)
}

/** Refuses an address that `isAllowedAddress` does not allow. */
export function refuseOtherDomains(settings: Settings, email: string): void {
  if (isAllowedAddress(settings, email)) return
  throw new ApiFailure('Email addresses of this domain are not allowed.')
}
