import { Suspense } from 'react'
import type { User } from '../../contract/api/user.ts'
import { lazy } from '../lib/lazy.ts'
import { useServerStatus } from '../lib/status.ts'

const Buttons = lazy(() => import('./outside-login-buttons.tsx').then((it) => ({ default: it.OutsideLoginButtons })))

/** The external logins, if the server offers any. The area `auth` must be loaded. */
export function OutsideLogins({ onDone }: { onDone(user: User): void }) {
  const { github_oauth, wechat_login } = useServerStatus()
  if (!github_oauth && !wechat_login) return null
  // Reserves the height of the buttons, so that nothing shifts when they appear.
  const space = github_oauth && wechat_login ? 'h-28 max-sm:h-32' : 'h-17 max-sm:h-19'
  return (
    <Suspense fallback={<div className={space} />}>
      <Buttons onDone={onDone} />
    </Suspense>
  )
}
