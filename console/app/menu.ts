import type { LucideIcon } from 'lucide-react'
import { canSeeReference } from '../lib/reference-access.ts'
import type { SessionUser } from '../lib/session.ts'
import { isAdmin } from '../lib/session.ts'
import { hasMoreCalls, type KnownStatus } from '../lib/status.ts'
import type { MessageKey } from '../messages/namespaces.ts'
import { menuIcons } from './menu-icons.ts'
import type { MenuGroup, Page } from './page-row.ts'
import { pages } from './pages.ts'

export interface MenuEntry {
  to: string
  text: Extract<MessageKey, `menu.${string}`>
  icon: LucideIcon
  /** Second key of the shortcut; the first is g. */
  key?: string | undefined
  /** The entry's part of the menu; undefined for the entries at the top. */
  group?: MenuGroup | undefined
}

/** Whether a user sees the menu entry of a page. */
function isShown(page: Page, user: SessionUser | undefined, status: KnownStatus): boolean {
  if (page.menu?.needs === 'chat link' && !status.chat_link) return false
  // A server that has only one-api's endpoints does not provide prices.
  if (page.menu?.needs === 'more calls' && !hasMoreCalls(status)) return false
  if (page.menu?.needs === 'status page' && !status.status_page) return false
  // Logged-in users do not need the public models page, because they have one that shows their own models.
  if (page.menu?.needs === 'public models' && (user !== undefined || !status.public_models)) return false
  if (page.menu?.needs === 'API reference' && !canSeeReference(user, status)) return false
  return page.for === 'everybody' || (user !== undefined && (page.for === 'users' || isAdmin(user)))
}

/** The entries for a user. The chat is included only if a chat link is set. */
export function menuFor(user: SessionUser | undefined, status: KnownStatus): MenuEntry[] {
  return pages.flatMap((page) => {
    if (!page.menu || !isShown(page, user, status)) return []
    const { icon, group, ...entry } = page.menu
    // Visitors see only a few entries, which need no headings.
    return [{ ...entry, group: user && group, to: page.path, icon: menuIcons[icon] }]
  })
}
