import type { User } from '../../../contract/api/user.ts'
import { Amount } from '../../components/amount.tsx'
import { Cut } from '../../components/data-table/cut.tsx'
import type { Column } from '../../components/data-table/types.ts'
import { Groups } from '../../components/groups.tsx'
import { cut, formatNumber, formatRelative, formatTime } from '../../lib/format.ts'
import { type Text, useText } from '../../lib/text.ts'
import { roleText, statusText, UserRole, UserStatus } from './user-parts.tsx'

const longestName = 15

/** The columns of the list. */
export function userColumns(t: Text): Column<User>[] {
  return [
    {
      id: 'id',
      header: t('user.id'),
      cell: (user) => user.id,
      value: (user) => user.id,
      sortable: true,
      align: 'end',
      skeleton: 'w-8',
    },
    {
      id: 'username',
      header: t('user.username'),
      cell: (user) => <span title={user.username}>{cut(user.username, longestName)}</span>,
      value: (user) => user.username,
      sortable: true,
      required: true,
      card: 'title',
      skeleton: 'w-24',
    },
    {
      id: 'display_name',
      header: t('user.displayName'),
      cell: (user) => <Cut text={user.display_name} width="max-w-28" />,
      value: (user) => user.display_name,
      sortable: true,
      card: 'hide',
      skeleton: 'w-20',
    },
    {
      id: 'email',
      header: t('user.email'),
      cell: (user) => <Cut text={user.email} width="max-w-36" />,
      value: (user) => user.email,
      sortable: true,
      card: 'hide',
      skeleton: 'w-28',
    },
    {
      id: 'group',
      header: t('user.group'),
      cell: (user) => <Groups group={user.group} />,
      value: (user) => user.group,
      sortable: true,
      skeleton: 'w-14',
    },
    ...figures(t),
    {
      id: 'role',
      header: t('user.role'),
      cell: (user) => <UserRole role={user.role} />,
      value: (user) => roleText(user.role, t),
      sortable: true,
      skeleton: 'w-20',
    },
    {
      id: 'status',
      header: t('user.status'),
      cell: (user) => <UserStatus user={user} />,
      value: (user) => statusText(user.status, t),
      sortable: true,
      card: 'badge',
      skeleton: 'w-16',
    },
    {
      id: 'spent_at',
      header: t('user.active'),
      cell: (user) => <LastActive user={user} />,
      value: (user) => user.spent_at,
      sortable: true,
      // Hidden by default, because the columns of the console's specification already fill the width.
      hidden: true,
      card: 'hide',
      wraps: true,
    },
    {
      id: 'spent_month',
      header: t('user.column.month'),
      cell: (user) => <Amount quota={user.spent_month ?? 0} />,
      value: (user) => user.spent_month,
      align: 'end',
      hidden: true,
      card: 'hide',
      skeleton: 'w-14',
    },
    {
      id: 'created_time',
      header: t('user.created'),
      cell: (user) =>
        user.created_time > 0 && <time title={formatRelative(user.created_time)}>{formatTime(user.created_time)}</time>,
      value: (user) => user.created_time,
      sortable: true,
      hidden: true,
      card: 'hide',
      wraps: true,
    },
  ]
}

function figures(t: Text): Column<User>[] {
  return [
    {
      id: 'quota',
      header: t('user.column.quota'),
      cell: (user) => <Amount quota={user.quota} />,
      value: (user) => user.quota,
      sortable: true,
      align: 'end',
      skeleton: 'w-16',
    },
    {
      id: 'used_quota',
      header: t('user.column.used'),
      cell: (user) => <Amount quota={user.used_quota} />,
      value: (user) => user.used_quota,
      sortable: true,
      align: 'end',
      skeleton: 'w-14',
    },
    {
      id: 'request_count',
      header: t('user.requests'),
      cell: (user) => formatNumber(user.request_count),
      value: (user) => user.request_count,
      sortable: true,
      align: 'end',
      card: 'hide',
      skeleton: 'w-10',
    },
  ]
}

/** How long ago a request of the user was last charged. Some servers do not report it. */
function LastActive({ user: { spent_at = 0 } }: { user: Partial<User> }) {
  const t = useText()
  if (spent_at === 0) return <span className="text-muted">{t('user.active.never')}</span>
  return <time title={formatTime(spent_at)}>{formatRelative(spent_at)}</time>
}
