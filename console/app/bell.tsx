import { useRouterState } from '@tanstack/react-router'
import { Bell as BellIcon } from 'lucide-react'
import { Suspense, useEffect, useState } from 'react'
import { IconButton } from '../components/ui/icon-button.tsx'
import { Popover } from '../components/ui/popover.tsx'
import { Spinner } from '../components/ui/spinner.tsx'
import { lazy } from '../lib/lazy.ts'
import { useObservable } from '../lib/observable.ts'
import { useSessionUser } from '../lib/session.ts'
import { hasMoreCalls, useServerStatus } from '../lib/status.ts'
import { loadAreas, useText } from '../lib/text.ts'
import { bellEntries, readIds } from './bell-entries.ts'

const BellWatch = lazy(() => import('./bell-watch.tsx').then((it) => ({ default: it.BellWatch })))
const BellPanel = lazy(async () => {
  const [it] = await Promise.all([import('./bell-panel.tsx'), loadAreas(['palette'])])
  return { default: it.BellPanel }
})

/** The news is loaded after this time, so that it does not delay the page itself. */
const startMs = 1500

/** The bell, which has a dot while there is unread news. Its panel lists the news. */
export function Bell() {
  const t = useText()
  const user = useSessionUser()
  const status = useServerStatus()
  // Following a link in the panel closes the panel.
  const place = useRouterState({ select: ({ location }) => location.href })
  const entries = useObservable(bellEntries)
  const read = useObservable(readIds)
  const unread = user ? entries.filter(({ id }) => !read.includes(id)).length : 0
  const watches = useLater() && user !== undefined && hasMoreCalls(status)
  return (
    <>
      <Popover
        key={place}
        title={t('app.notices')}
        trigger={
          <IconButton
            label={unread > 0 ? t('app.notices.unread', { count: unread }) : t('app.notices')}
            icon={
              <span className="relative">
                <BellIcon />
                {unread > 0 && (
                  <span
                    className="absolute -top-1 -right-1 size-2 rounded-full bg-red ring-2 ring-bg"
                    aria-hidden="true"
                    data-unread
                  />
                )}
              </span>
            }
          />
        }
      >
        <Suspense fallback={<Spinner />}>
          <BellPanel />
        </Suspense>
      </Popover>
      <Suspense fallback={null}>{watches && <BellWatch key={user.id} user={user} />}</Suspense>
    </>
  )
}

function useLater(): boolean {
  const [isLater, setLater] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLater(true), startMs)
    return () => clearTimeout(timer)
  }, [])
  return isLater
}
