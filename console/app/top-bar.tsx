import { Link, useNavigate, useRouterState } from '@tanstack/react-router'
import {
  BookOpen,
  ChevronDown,
  CircleHelp,
  Keyboard,
  LogOut,
  Menu as MenuIcon,
  Search,
  Sparkles,
  UserRound,
} from 'lucide-react'
import { Suspense, useState } from 'react'
import { buttonClass } from '../components/ui/button.tsx'
import { IconButton } from '../components/ui/icon-button.tsx'
import { Menu } from '../components/ui/menu.tsx'
import { helpOpen, paletteOpen } from '../lib/commands.ts'
import { currentCrumb, currentPage } from '../lib/crumb.ts'
import { lazy } from '../lib/lazy.ts'
import { useObservable } from '../lib/observable.ts'
import { canSeeReference } from '../lib/reference-access.ts'
import { isRoot, type SessionUser, useSessionUser } from '../lib/session.ts'
import { useServerStatus } from '../lib/status.ts'
import { useText } from '../lib/text.ts'
import { Bell } from './bell.tsx'
import { Brand } from './brand.tsx'
import { logout } from './logout.ts'
import type { MenuEntry } from './menu.ts'
import { PreferencesButtons } from './preferences-buttons.tsx'

const MobileMenu = lazy(() => import('./mobile-menu.tsx').then((it) => ({ default: it.MobileMenu })))

/**
 * The top bar with breadcrumb, search, language, theme, notices and account. On narrow screens, it also has the brand
 * and the menu.
 */
export function TopBar({ entries }: { entries: readonly MenuEntry[] }) {
  const t = useText()
  const user = useSessionUser()
  const [menu, setMenu] = useState(false)
  return (
    <header className="sticky top-0 z-30 flex h-14 items-center gap-1 border-b border-line bg-bg px-4 sm:px-6 lg:px-8">
      <div className="min-w-0 flex-1 sm:hidden">
        <Brand />
      </div>
      <Breadcrumb entries={entries} />
      <button
        type="button"
        onClick={() => paletteOpen.set(true)}
        className="mr-1 hidden h-8 items-center gap-2 rounded-md border border-line bg-surface pr-1.5 pl-2.5 text-sm text-muted shadow-control transition-colors hover:border-edge hover:text-fg md:flex"
      >
        <Search className="size-4" aria-hidden="true" />
        <span className="pr-6">{t('app.palette.short')}</span>
        <span className="rounded-sm border border-line bg-sunken px-1 text-xs" aria-hidden="true" data-verbatim>
          Ctrl K
        </span>
      </button>
      <IconButton
        className="md:hidden"
        label={t('app.palette')}
        icon={<Search />}
        onClick={() => paletteOpen.set(true)}
      />
      <div className="flex items-center gap-1 max-sm:hidden">
        <PreferencesButtons />
      </div>
      <Bell />
      <div className="max-sm:hidden">{user ? <UserMenu user={user} /> : <LoginLinks />}</div>
      <IconButton
        className="sm:hidden"
        label={t('app.openMenu')}
        aria-expanded={menu}
        icon={<MenuIcon />}
        onClick={() => setMenu(true)}
      />
      <Suspense fallback={null}>{menu && <MobileMenu entries={entries} onClose={() => setMenu(false)} />}</Suspense>
    </header>
  )
}

/** The position of the page: its list, the object that it is about, and the action. */
function Breadcrumb({ entries }: { entries: readonly MenuEntry[] }) {
  const t = useText()
  const path = useRouterState({ select: (state) => state.location.pathname })
  const crumb = useObservable(currentCrumb)
  const page = useObservable(currentPage)
  const isAt = (to: string, place: string) => to !== '/' && (place === to || place.startsWith(`${to}/`))
  const area = entries.find(({ to }) => isAt(to, path)) ?? entries.find(({ to }) => isAt(to, page?.under ?? ''))
  const act = /\/(add|edit)(?:\/|$)/.exec(path)?.[1]
  const steps = [
    area && (
      <Link to={area.to} className={crumbClass} activeOptions={{ exact: true, includeSearch: false }}>
        {t(area.text)}
      </Link>
    ),
    area && crumb && <CrumbName to={area.to} name={crumb.name} peek={crumb.peek} isLast={act === undefined} />,
    page && area?.to !== path && (
      <span className="inline-block truncate first-letter:uppercase" aria-current="page">
        {page.name}
      </span>
    ),
    act && <span aria-current="page">{t(act === 'add' ? 'crumb.new' : 'crumb.edit')}</span>,
  ].filter((step) => step)
  return (
    <nav aria-label={t('app.breadcrumb')} className="min-w-0 flex-1 text-sm text-muted max-sm:hidden">
      <ol className="flex items-center gap-1.5">
        {steps.map((step, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a step is identified by its position
          <li key={index} className={`flex items-center gap-1.5 ${index === 1 ? 'min-w-0' : 'shrink-0'}`}>
            {index > 0 && <span aria-hidden="true">/</span>}
            {step}
          </li>
        ))}
      </ol>
    </nav>
  )
}

const crumbClass = 'truncate rounded-sm hover:text-fg'

function CrumbName(props: { to: string; name: string; peek: string | undefined; isLast: boolean }) {
  const { to, name, peek, isLast } = props
  if (peek === undefined)
    return (
      <span className="truncate" aria-current={isLast ? 'page' : undefined} data-verbatim>
        {name}
      </span>
    )
  return (
    <Link to={to} search={{ peek } as never} className={crumbClass} data-verbatim>
      {name}
    </Link>
  )
}

function LoginLinks() {
  const t = useText()
  return (
    <Link to="/login" className={buttonClass({ look: 'primary', className: 'ml-1' })}>
      {t('menu.login')}
    </Link>
  )
}

function UserMenu({ user }: { user: SessionUser }) {
  const t = useText()
  const status = useServerStatus()
  const navigate = useNavigate()
  return (
    <Menu
      label={t('app.account')}
      trigger={
        <button
          type="button"
          className="ml-1 flex h-8 max-w-44 items-center gap-1.5 rounded-md px-2 text-sm font-medium hover:bg-active data-popup-open:bg-active"
        >
          <span className="grid size-5 shrink-0 place-items-center rounded-full bg-tint text-xs font-semibold text-link uppercase">
            {[...user.username][0]}
          </span>
          <span className="truncate">{user.username}</span>
          <ChevronDown className="size-3.5 shrink-0 text-muted" aria-hidden="true" />
        </button>
      }
      entries={[
        {
          id: 'profile',
          label: t('menu.profile'),
          icon: <UserRound />,
          run: () => void navigate({ to: '/user/edit' }),
        },
        ...(canSeeReference(user, status)
          ? [
              {
                id: 'reference',
                label: t('menu.reference'),
                icon: <BookOpen />,
                run: () => void navigate({ to: '/reference' }),
              },
            ]
          : []),
        { id: 'help', label: t('app.help'), icon: <CircleHelp />, run: () => void navigate({ to: '/about' }) },
        ...(isRoot(user)
          ? [
              {
                id: 'news',
                label: t('app.news'),
                icon: <Sparkles />,
                run: () => void navigate({ to: '/setting', search: { tab: 'other' }, hash: 'UpdateFeedURL' }),
              },
            ]
          : []),
        {
          id: 'keys',
          label: t('app.shortcuts'),
          icon: <Keyboard />,
          keys: '?',
          run: () => helpOpen.set(true),
        },
        {
          id: 'logout',
          label: t('menu.logout'),
          icon: <LogOut />,
          run: () => void logout((to) => void navigate({ to }), t('done.logout')).catch(() => undefined),
        },
      ]}
    />
  )
}
