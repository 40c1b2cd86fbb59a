import { useNavigate, useRouterState } from '@tanstack/react-router'
import type { User } from '../../contract/api/user.ts'
import { setSessionUser } from './session.ts'
import { useText } from './text.ts'
import { toast } from './toast.ts'

/**
 * Completes a login by any method. It remembers the user and opens the page that was requested before the login, or the
 * home page. Uses the messages of area `auth`.
 */
export function useFinishLogin(): (user: User) => void {
  const t = useText()
  const navigate = useNavigate()
  const from = useRouterState({ select: ({ location }) => location.state.from })
  return (user) => {
    setSessionUser(user)
    if (from?.startsWith('/') && !from.startsWith('//')) void navigate({ href: from })
    else void navigate({ to: '/' })
    toast.closeSince(0)
    toast.success(t('login.done'))
  }
}
