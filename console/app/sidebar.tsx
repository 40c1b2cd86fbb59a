import { Link } from '@tanstack/react-router'
import { PanelLeftClose, PanelLeftOpen } from 'lucide-react'
import { IconButton } from '../components/ui/icon-button.tsx'
import { setSidebarFolded, useSidebarFolded } from '../lib/preferences.ts'
import { useScreen } from '../lib/screen.ts'
import { useText } from '../lib/text.ts'
import { Brand } from './brand.tsx'
import type { MenuEntry } from './menu.ts'

const entryClass =
  'flex h-8 items-center gap-2.5 rounded-md px-2.5 text-sm text-muted transition-colors hover:bg-active hover:text-fg [&_svg]:size-4 [&_svg]:shrink-0 max-sm:h-11 max-sm:text-base'
const currentClass = 'bg-active font-medium text-fg!'

/** The entries of the menu as links; `iconOnly` hides their words but keeps their accessible names. */
export function MenuLinks(props: { entries: readonly MenuEntry[]; iconOnly?: boolean; onGo?: () => void }) {
  const { entries, iconOnly = false, onGo } = props
  const t = useText()
  return (
    <ul className="flex flex-col gap-0.5">
      {entries.map((entry) => (
        <li key={entry.to} className={entry.gap ? 'mt-3' : ''}>
          <Link
            to={entry.to}
            activeOptions={{ exact: entry.to === '/', includeSearch: false }}
            activeProps={{ className: currentClass, 'aria-current': 'page' }}
            className={`${entryClass} ${iconOnly ? 'justify-center px-0' : ''}`}
            title={iconOnly ? t(entry.text) : undefined}
            onClick={onGo}
          >
            <entry.icon aria-hidden="true" />
            <span className={iconOnly ? 'sr-only' : 'truncate'}>{t(entry.text)}</span>
          </Link>
        </li>
      ))}
    </ul>
  )
}

/** The sidebar: words from 1024 px, icons from 601 px or when collapsed. */
export function Sidebar({ entries }: { entries: readonly MenuEntry[] }) {
  const t = useText()
  const folded = useSidebarFolded()
  const narrow = !useScreen('sm')
  const wide = useScreen('lg')
  const iconOnly = folded || !wide
  if (narrow) return null
  return (
    <aside
      className={`sticky top-0 flex h-dvh shrink-0 flex-col border-r border-line bg-sunken ${iconOnly ? 'w-14' : 'w-58'}`}
    >
      <div className="flex h-14 items-center px-4">
        <Brand iconOnly={iconOnly} />
      </div>
      <nav aria-label={t('app.menu')} className="min-h-0 flex-1 overflow-y-auto px-2 py-1">
        <MenuLinks entries={entries} iconOnly={iconOnly} />
      </nav>
      {wide && (
        <div className="flex p-2">
          <IconButton
            label={t(folded ? 'app.sidebar.unfold' : 'app.sidebar.fold')}
            icon={folded ? <PanelLeftOpen /> : <PanelLeftClose />}
            onClick={() => setSidebarFolded(!folded)}
            className={folded ? 'mx-auto' : ''}
          />
        </div>
      )}
    </aside>
  )
}
