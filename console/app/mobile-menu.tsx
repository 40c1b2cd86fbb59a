import { Link, useNavigate } from '@tanstack/react-router'
import { Button, buttonClass } from '../components/ui/button.tsx'
import { Drawer } from '../components/ui/drawer.tsx'
import { useSessionUser } from '../lib/session.ts'
import { useServerStatus } from '../lib/status.ts'
import { useText } from '../lib/text.ts'
import { logout } from './logout.ts'
import type { MenuEntry } from './menu.ts'
import { PreferencesButtons } from './preferences-buttons.tsx'
import { MenuLinks } from './sidebar.tsx'

/** The menu on narrow screens: all entries, followed by "log out", or by "log in" and "register". */
export function MobileMenu({ entries, onClose }: { entries: readonly MenuEntry[]; onClose(): void }) {
  const t = useText()
  const user = useSessionUser()
  const navigate = useNavigate()
  const { register_enabled } = useServerStatus()
  return (
    <Drawer open onClose={onClose} title={t('app.menu')} aside={<PreferencesButtons />}>
      {user && (
        <Link
          to="/user/edit"
          onClick={onClose}
          className="flex min-h-12 items-center gap-3 rounded-lg border border-line px-3 py-2"
        >
          <span className="grid size-8 shrink-0 place-items-center rounded-full bg-tint font-semibold text-link uppercase">
            {[...user.username][0]}
          </span>
          <span className="min-w-0">
            <span className="block truncate font-medium" data-verbatim>
              {user.display_name || user.username}
            </span>
            <span className="block text-sm text-muted">{t('menu.profile')}</span>
          </span>
        </Link>
      )}
      <nav aria-label={t('app.menu')}>
        <MenuLinks entries={entries} onGo={onClose} />
      </nav>
      <div className="flex flex-col gap-2">
        {user ? (
          <Button
            size="large"
            onClick={() => {
              onClose()
              void logout((to) => void navigate({ to }), t('done.logout')).catch(() => undefined)
            }}
          >
            {t('menu.logout')}
          </Button>
        ) : (
          <>
            <Link to="/login" className={buttonClass({ look: 'primary', size: 'large' })} onClick={onClose}>
              {t('menu.login')}
            </Link>
            {register_enabled !== false && (
              <Link to="/register" className={buttonClass({ size: 'large' })} onClick={onClose}>
                {t('menu.register')}
              </Link>
            )}
          </>
        )}
      </div>
    </Drawer>
  )
}
