import type { KnownStatus } from './status.ts'

/** Whether the server has an API reference and shows it to this user or, if there is no user, to visitors. */
export function canSeeReference(user: object | undefined, { public_api_reference }: KnownStatus): boolean {
  return user === undefined ? public_api_reference === true : public_api_reference !== undefined
}
