/** Roles as stored in `users.role` and sent on the wire; comparisons are always `>=`. */
export const roles = { user: 1, admin: 10, root: 100 } as const

/** Who may call an endpoint. `token` means a relay key (`sk-…`), the rest a session or an access token. */
export type Access = 'public' | 'user' | 'admin' | 'root'

const leastRole: Record<Access, number> = { public: 0, user: roles.user, admin: roles.admin, root: roles.root }

/** True when a person with `role` may use something open to `access`. */
export function mayAccess(role: number, access: Access): boolean {
  return role >= leastRole[access]
}
