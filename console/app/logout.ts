import { authApi } from '../../contract/api/auth.ts'
import { call } from '../lib/call.ts'
import { setSessionUser } from '../lib/session.ts'
import { toast } from '../lib/toast.ts'

/** Ends the session, goes to the login page and shows a toast. */
export async function logout(goTo: (path: '/login') => void, done: string): Promise<void> {
  await call(authApi.logout, {})
  setSessionUser(undefined)
  goTo('/login')
  toast.success(done)
}
