import {
  Activity,
  ChartColumn,
  CircleHelp,
  CreditCard,
  House,
  KeyRound,
  type LucideIcon,
  MessageSquare,
  Network,
  Settings,
  SquareTerminal,
  Tags,
  Ticket,
  Users,
} from 'lucide-react'
import type { SessionUser } from '../lib/session.ts'
import { isAdmin } from '../lib/session.ts'
import { hasMoreCalls, type KnownStatus } from '../lib/status.ts'
import type { MessageKey } from '../messages/namespaces.ts'

/** The users who see an entry. */
type For = 'everybody' | 'users' | 'admins'

export interface MenuEntry {
  to: string
  text: Extract<MessageKey, `menu.${string}`>
  icon: LucideIcon
  for: For
  /** Second key of the shortcut; the first is g. */
  key?: string
  /** Shown with a small gap above. */
  gap?: true
}

/** Every menu entry, in one-api's order; the entries that Tollgate adds come last. */
const entries: readonly MenuEntry[] = [
  { to: '/', text: 'menu.home', icon: House, for: 'everybody', key: 'h' },
  { to: '/chat', text: 'menu.chat', icon: MessageSquare, for: 'everybody' },
  { to: '/channel', text: 'menu.channel', icon: Network, for: 'admins', key: 'c', gap: true },
  { to: '/token', text: 'menu.token', icon: KeyRound, for: 'users', key: 't' },
  { to: '/redemption', text: 'menu.redemption', icon: Ticket, for: 'admins', key: 'r' },
  { to: '/topup', text: 'menu.topup', icon: CreditCard, for: 'users', key: 'p' },
  { to: '/user', text: 'menu.user', icon: Users, for: 'admins', key: 'u' },
  { to: '/log', text: 'menu.log', icon: Activity, for: 'users', key: 'l' },
  { to: '/setting', text: 'menu.setting', icon: Settings, for: 'users', key: 's', gap: true },
  { to: '/about', text: 'menu.about', icon: CircleHelp, for: 'everybody' },
  { to: '/usage', text: 'menu.usage', icon: ChartColumn, for: 'users', gap: true },
  { to: '/model', text: 'menu.model', icon: Tags, for: 'users', key: 'm' },
  { to: '/playground', text: 'menu.playground', icon: SquareTerminal, for: 'users' },
]

/** The entries for a user. The chat is included only if a chat link is set. */
export function menuFor(user: SessionUser | undefined, status: KnownStatus): MenuEntry[] {
  return entries.filter((entry) => {
    if (entry.to === '/chat' && !status.chat_link) return false
    // A server without the additional endpoints does not provide prices.
    if (entry.to === '/model' && !hasMoreCalls(status)) return false
    return entry.for === 'everybody' || (user !== undefined && (entry.for === 'users' || isAdmin(user)))
  })
}
