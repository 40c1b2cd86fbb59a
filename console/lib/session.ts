import type { User } from '../../contract/api/user.ts'
import { roles } from '../../contract/roles.ts'
import { observable, useObservable } from './observable.ts'
import { readStoredJson, writeStored } from './storage.ts'

/** The logged-in account as the browser remembers it. The server decides what the account may do. */
export type SessionUser = Pick<User, 'id' | 'username' | 'role'> & Partial<User>

function stored(): SessionUser | undefined {
  const value = readStoredJson('user')
  if (typeof value !== 'object' || value === null) return undefined
  const { id, username, role } = value as Partial<SessionUser>
  // If the stored record is invalid, the user counts as logged out.
  if (typeof id !== 'number' || typeof username !== 'string' || typeof role !== 'number') return undefined
  return value as SessionUser
}

const current = observable<SessionUser | undefined>(stored())

// A login or logout in another tab also applies to this tab.
window.addEventListener('storage', (event) => {
  if (event.key === 'user' || event.key === null) current.set(stored())
})

/** The logged-in user, as the browser remembers it. */
export function sessionUser(): SessionUser | undefined {
  return current.get()
}

/** The logged-in user. The component renders again when this changes, even if it changes in another tab. */
export function useSessionUser(): SessionUser | undefined {
  return useObservable(current)
}

/** Remembers the logged-in user. With undefined, forgets the user. */
export function setSessionUser(user: SessionUser | undefined): void {
  writeStored('user', user && JSON.stringify(user))
  current.set(user)
}

/** Calls a listener after each login and logout, including those in other tabs. */
export function onSessionChange(listener: () => void): () => void {
  return current.subscribe(listener)
}

/** True for role 10 and above. */
export function isAdmin(user: SessionUser | undefined): boolean {
  return (user?.role ?? 0) >= roles.admin
}

/** True for role 100 and above. */
export function isRoot(user: SessionUser | undefined): boolean {
  return (user?.role ?? 0) >= roles.root
}
