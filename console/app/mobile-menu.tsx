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

/** The menu on narrow screens: every entry, then log out, or log in and register. */
export function MobileMenu({ entries, onClose }: { entries: readonly MenuEntry[]; onClose(): void }) {
  const t = useText()
  const user = useSessionUser()
  const navigate = useNavigate()
  const { register_enabled } = useServerStatus()
  return (
    <Drawer open onClose={onClose} title={t('app.menu')} aside={<PreferencesButtons />}>
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
