import { QueryClientProvider } from '@tanstack/react-query'
import { Outlet, useNavigate } from '@tanstack/react-router'
import { useHotkeys } from '../lib/hotkeys.ts'
import { queryClient } from '../lib/query-client.ts'
import { useSessionUser } from '../lib/session.ts'
import { useServerStatus } from '../lib/status.ts'
import { Footer } from './footer.tsx'
import { menuFor } from './menu.ts'
import { useShellCommands } from './shell-commands.ts'
import { Sidebar } from './sidebar.tsx'
import { TopBar } from './top-bar.tsx'

/** The frame of the console: sidebar (icons from 601 px on, a drawer on narrower screens), top bar, page and footer. */
export function Shell() {
  const navigate = useNavigate()
  const user = useSessionUser()
  const status = useServerStatus()
  const entries = menuFor(user, status)
  useShellCommands(entries)
  useHotkeys(
    Object.fromEntries(
      entries.flatMap(({ key, to }) => (key === undefined ? [] : [[`g ${key}`, () => void navigate({ to })]])),
    ),
  )
  return (
    <QueryClientProvider client={queryClient}>
      <div className="flex min-h-dvh">
        <Sidebar entries={entries} />
        <div className="flex min-w-0 flex-1 flex-col">
          <TopBar entries={entries} />
          <main tabIndex={-1} className="flex-1 px-4 py-5 outline-none sm:px-6 lg:px-8">
            <Outlet />
          </main>
          <Footer />
        </div>
      </div>
    </QueryClientProvider>
  )
}
