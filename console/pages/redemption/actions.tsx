import { Ban, CircleCheck, Copy, Pencil, Trash2 } from 'lucide-react'
import type { Redemption } from '../../../contract/api/redemption.ts'
import { redemptionStatus } from '../../../contract/statuses.ts'
import type { BulkAction, RowAction } from '../../components/data-table/types.ts'
import type { CopyLines } from '../../components/data-table/use-copy-lines.tsx'
import { isOfOneStatus } from '../../lib/list-source.ts'
import { type Text, text } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { toastWithUndo } from '../../lib/undo.ts'
import { nameOf } from './code-parts.tsx'
import { redemptions, removeRedemption, setRedemptionStatus } from './queries.ts'

/** Switches a code between redeemable and disabled and offers to undo the change. */
async function toggle(code: Redemption): Promise<void> {
  const enable = code.status !== redemptionStatus.unused
  const [next, before] = enable
    ? [redemptionStatus.unused, redemptionStatus.disabled]
    : [redemptionStatus.disabled, redemptionStatus.unused]
  const set = async (status: number) => {
    await setRedemptionStatus(code, status)
    void redemptions.refresh(isOfOneStatus)
  }
  await set(next)
  const name = nameOf(code, text)
  toastWithUndo(text(enable ? 'table.toggled.enabled' : 'table.toggled.disabled', { name }), () => set(before))
}

interface Handlers {
  copy(code: Redemption): Promise<boolean>
  edit(code: Redemption): void
  /** Asks for confirmation, then deletes. */
  remove(code: Redemption): void
}

/** Actions for one code. */
export function redemptionActions(code: Redemption, t: Text, on: Handlers): RowAction[] {
  const unused = code.status === redemptionStatus.unused
  const used = code.status === redemptionStatus.used
  return [
    { id: 'copy', label: t('redemption.copy'), icon: <Copy />, keys: 'c', run: () => void on.copy(code) },
    { id: 'edit', label: t('do.edit'), icon: <Pencil />, primary: true, keys: 'e', run: () => on.edit(code) },
    {
      id: 'toggle',
      label: t(unused ? 'do.disable' : 'do.enable'),
      icon: unused ? <Ban /> : <CircleCheck />,
      primary: true,
      disabled: used,
      hint: used ? t('redemption.used.hint') : undefined,
      // If the call fails, it shows its own error.
      run: () => void toggle(code).catch(() => undefined),
    },
    { id: 'delete', label: t('do.delete'), icon: <Trash2 />, danger: true, run: () => on.remove(code) },
  ]
}

/** Actions for several codes. */
export function redemptionBulk(t: Text, copy: CopyLines): BulkAction<Redemption>[] {
  return [
    {
      id: 'enable',
      label: t('do.enable'),
      applies: (code) => code.status === redemptionStatus.disabled,
      run: (code) => setRedemptionStatus(code, redemptionStatus.unused),
    },
    {
      id: 'disable',
      label: t('do.disable'),
      applies: (code) => code.status === redemptionStatus.unused,
      run: (code) => setRedemptionStatus(code, redemptionStatus.disabled),
    },
    {
      id: 'copy',
      label: t('do.copy'),
      open: (rows) =>
        copy(
          rows.map(({ key }) => key),
          t('redemption.copied', { count: rows.length }),
        ),
      run: async () => undefined,
    },
    {
      id: 'delete',
      label: t('do.delete'),
      danger: true,
      confirm: (rows) => ({
        title: t('table.delete.many', { count: rows.length }),
        text: t('redemption.delete.manyText'),
        typed: rows.length > 5 ? String(rows.length) : undefined,
      }),
      run: removeRedemption,
    },
  ]
}

/** Deletes a code and shows a toast. */
export async function deleteCode(code: Redemption): Promise<void> {
  await removeRedemption(code)
  toast.success(text('table.deleted', { name: nameOf(code, text) }))
}
