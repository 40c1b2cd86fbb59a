import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { useServerStatus } from '../lib/status.ts'
import { useText } from '../lib/text.ts'
import { Brand } from './brand.tsx'
import { Footer } from './footer.tsx'
import { PreferencesButtons } from './preferences-buttons.tsx'

const linkClass = 'rounded-md px-2 py-1 text-sm text-muted hover:bg-active hover:text-fg max-sm:py-2.5'

/** Layout of the login, registration and password pages: a header line, the page and the footer. */
export function PlainLayout() {
  const t = useText()
  const path = useRouterState({ select: (state) => state.location.pathname })
  const { chat_link } = useServerStatus()
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="flex h-14 items-center gap-1 px-4 sm:px-6">
        <Brand />
        <nav aria-label={t('app.menu')} className="ml-auto flex items-center">
          {chat_link && (
            <Link to="/chat" className={`${linkClass} max-sm:hidden`}>
              {t('menu.chat')}
            </Link>
          )}
          <Link to="/about" className={`${linkClass} max-sm:hidden`}>
            {t('menu.about')}
          </Link>
          {path !== '/login' && (
            <Link to="/login" className={linkClass}>
              {t('menu.login')}
            </Link>
          )}
        </nav>
        <PreferencesButtons />
      </header>
      <main tabIndex={-1} className="flex flex-1 flex-col items-center justify-center px-4 pt-4 pb-16 outline-none">
        <Outlet />
      </main>
      <Footer />
    </div>
  )
}
