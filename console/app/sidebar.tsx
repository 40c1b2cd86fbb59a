import { Link } from '@tanstack/react-router'
import { PanelLeftClose, PanelLeftOpen } from 'lucide-react'
import { useId } from 'react'
import { IconButton } from '../components/ui/icon-button.tsx'
import { setSidebarFolded, useSidebarFolded } from '../lib/preferences.ts'
import { useScreen } from '../lib/screen.ts'
import { useText } from '../lib/text.ts'
import { Brand } from './brand.tsx'
import type { MenuEntry } from './menu.ts'
import type { MenuGroup } from './page-row.ts'

const entryClass =
  'flex h-8 items-center gap-2.5 rounded-md px-2.5 text-sm text-muted transition-colors hover:bg-active hover:text-fg [&_svg]:size-4 [&_svg]:shrink-0 max-sm:h-11 max-sm:text-base'
const currentClass = 'bg-active font-medium text-fg!'

const groupHeadings = {
  gateway: 'menu.group.gateway',
  accounts: 'menu.group.accounts',
  activity: 'menu.group.activity',
  more: 'menu.group.more',
} as const satisfies Record<MenuGroup, string>

interface MenuLinksProps {
  entries: readonly MenuEntry[]
  iconOnly?: boolean
  onGo?: () => void
}

/** The menu entries as links, by group. `iconOnly` hides their texts but keeps their accessible names. */
export function MenuLinks({ entries, iconOnly = false, onGo }: MenuLinksProps) {
  const t = useText()
  const id = useId()
  const groups = [...new Set(entries.map(({ group }) => group))]
  return groups.map((group) => {
    const heading = group && t(groupHeadings[group])
    return (
      <div key={group ?? ''} className={group && iconOnly ? 'mt-2 border-t border-line pt-2' : ''}>
        {heading && (
          <p id={`${id}-${group}`} className={iconOnly ? 'sr-only' : 'px-2.5 pt-4 pb-1 text-xs font-medium text-muted'}>
            {heading}
          </p>
        )}
        <ul className="flex flex-col gap-0.5" aria-labelledby={heading ? `${id}-${group}` : undefined}>
          {entries
            .filter((entry) => entry.group === group)
            .map((entry) => (
              <li key={entry.to}>
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
      </div>
    )
  })
}

/** The sidebar. It shows texts from 1024 px on. From 601 px on, or when it is collapsed, it shows only icons. */
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
