import type { User } from '../../../contract/api/user.ts'
import { roles } from '../../../contract/roles.ts'
import { userStatus } from '../../../contract/statuses.ts'
import { type DotColor, Status } from '../../components/ui/badge.tsx'
import { type Text, useText } from '../../lib/text.ts'

/** The label of a role. */
export function roleText(role: number, t: Text): string {
  if (role === roles.user) return t('user.role.user')
  if (role === roles.admin) return t('user.role.admin')
  if (role === roles.root) return t('user.role.root')
  return t('role.unknown')
}

/** The label of a status. */
export function statusText(status: number, t: Text): string {
  if (status === userStatus.enabled) return t('user.status.activated')
  if (status === userStatus.disabled) return t('user.status.banned')
  return t('status.unknown')
}

/** Shows whether an account is activated or banned. */
export function UserStatus({ user }: { user: User }) {
  const t = useText()
  const color = user.status === userStatus.enabled ? 'green' : user.status === userStatus.disabled ? 'red' : 'grey'
  return <Status color={color}>{statusText(user.status, t)}</Status>
}

const roleColors: Readonly<Record<number, DotColor>> = {
  [roles.user]: 'grey',
  [roles.admin]: 'yellow',
  [roles.root]: 'orange',
}

/** Shows the role of an account. */
export function UserRole({ role }: { role: number }) {
  const t = useText()
  return <Status color={roleColors[role] ?? 'red'}>{roleText(role, t)}</Status>
}
