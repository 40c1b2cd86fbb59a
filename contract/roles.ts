/** Roles as stored in `users.role` and sent to clients. Always compare them with `>=`. */
export const roles = { user: 1, admin: 10, root: 100 } as const

/**
 * Who may call an endpoint. `public` means everybody, without a login. The others mean a session or an access token of
 * a person with this role or a higher one.
 */
export type Access = 'public' | 'user' | 'admin' | 'root'

const leastRole: Record<Access, number> = { public: 0, user: roles.user, admin: roles.admin, root: roles.root }

/** True if a person with this role may use something that requires `access`. */
export function mayAccess(role: number, access: Access): boolean {
  return role >= leastRole[access]
}
