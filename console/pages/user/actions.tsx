import { Ban, ChevronDown, ChevronUp, CircleCheck, Pencil, Trash2 } from 'lucide-react'
import type { User } from '../../../contract/api/user.ts'
import { roles } from '../../../contract/roles.ts'
import { userStatus } from '../../../contract/statuses.ts'
import type { BulkAction, RowAction } from '../../components/data-table/types.ts'
import { type Text, text } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { toastWithUndo } from '../../lib/undo.ts'
import { manageUser } from './queries.ts'
import { roleText } from './user-parts.tsx'

/** Bans or unbans a user and offers to undo the change. */
export async function toggleUser(user: User): Promise<void> {
  const enable = user.status !== userStatus.enabled
  await manageUser(user, enable ? 'enable' : 'disable')
  const name = user.username
  toastWithUndo(text(enable ? 'table.toggled.enabled' : 'table.toggled.disabled', { name }), () =>
    manageUser(user, enable ? 'disable' : 'enable'),
  )
}

/** Promotes or demotes a user and shows the new role. */
export async function changeRole(user: User, action: 'promote' | 'demote'): Promise<void> {
  const { role } = await manageUser(user, action)
  toast.success(text('user.changed.role', { name: user.username, role: roleText(role, text) }))
}

/** Deletes an account and shows a toast. */
export async function deleteUser(user: User): Promise<void> {
  await manageUser(user, 'delete')
  toast.success(text('table.deleted', { name: user.username }))
}

interface Handlers {
  edit(user: User): void
  /** Each of these functions asks for confirmation first. */
  promote(user: User): void
  demote(user: User): void
  remove(user: User): void
}

/** Actions for one user; there are none for a super admin. */
export function userActions(user: User, t: Text, on: Handlers): RowAction[] {
  const locked = user.role >= roles.root
  const enabled = user.status === userStatus.enabled
  const actions: RowAction[] = [
    { id: 'edit', label: t('do.edit'), icon: <Pencil />, primary: true, keys: 'e', run: () => on.edit(user) },
    {
      id: 'toggle',
      label: t(enabled ? 'do.disable' : 'do.enable'),
      icon: enabled ? <Ban /> : <CircleCheck />,
      primary: true,
      // If the call fails, it shows its own error.
      run: () => void toggleUser(user).catch(() => undefined),
    },
    { id: 'promote', label: t('user.promote'), icon: <ChevronUp />, run: () => on.promote(user) },
    { id: 'demote', label: t('user.demote'), icon: <ChevronDown />, run: () => on.demote(user) },
    { id: 'delete', label: t('do.delete'), icon: <Trash2 />, danger: true, run: () => on.remove(user) },
  ]
  return locked ? actions.map((action) => ({ ...action, disabled: true, hint: t('user.root.hint') })) : actions
}

/** Actions for several users. */
export function userBulk(t: Text): BulkAction<User>[] {
  const open = (user: User) => user.role < roles.root
  return [
    {
      id: 'enable',
      label: t('do.enable'),
      applies: (user) => open(user) && user.status === userStatus.disabled,
      run: (user) => manageUser(user, 'enable'),
    },
    {
      id: 'disable',
      label: t('do.disable'),
      applies: (user) => open(user) && user.status === userStatus.enabled,
      run: (user) => manageUser(user, 'disable'),
    },
    {
      id: 'delete',
      label: t('do.delete'),
      danger: true,
      applies: open,
      confirm: (rows) => ({
        title: t('table.delete.many', { count: rows.length }),
        text: t('user.delete.manyText'),
        typed: rows.length === 1 ? rows[0]?.username : String(rows.length),
      }),
      run: (user) => manageUser(user, 'delete'),
    },
  ]
}
