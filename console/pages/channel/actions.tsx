import { Ban, CircleCheck, Copy, CopyPlus, Gauge, Pencil, RefreshCw, Trash2 } from 'lucide-react'
import type { Channel } from '../../../contract/api/channel.ts'
import { channelStatus } from '../../../contract/statuses.ts'
import type { BulkAction, RowAction } from '../../components/data-table/types.ts'
import { copyText } from '../../lib/clipboard.ts'
import { isOfOneStatus } from '../../lib/list-source.ts'
import { isClassicServer } from '../../lib/status.ts'
import { type Text, text } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { toastWithUndo } from '../../lib/undo.ts'
import { hasBalance, nameOf } from './channel-parts.tsx'
import {
  channels,
  copyChannel,
  isEnabled,
  removeChannel,
  setChannelStatus,
  testChannel,
  updateBalance,
} from './queries.ts'

/** Switches a channel between enabled and disabled and offers to undo the change. */
export async function toggleChannel(channel: Pick<Channel, 'id' | 'name' | 'status'>): Promise<void> {
  const enable = !isEnabled(channel)
  const name = nameOf(channel, text)
  const [next, before] = enable
    ? [channelStatus.enabled, channelStatus.disabled]
    : [channelStatus.disabled, channelStatus.enabled]
  const set = async (status: number) => {
    await setChannelStatus(channel, status)
    void channels.refresh(isOfOneStatus)
  }
  await set(next)
  toastWithUndo(text(enable ? 'table.toggled.enabled' : 'table.toggled.disabled', { name }), () => set(before))
}

/** Tests a channel and shows how long the test took. */
export async function test(channel: Pick<Channel, 'id' | 'name'>): Promise<void> {
  const seconds = await testChannel(channel.id).catch((error: unknown) => {
    void channels.refresh()
    throw error
  })
  toast.info(text('channel.test.done', { name: nameOf(channel, text), seconds: seconds.toFixed(2) }))
}

/** Requests the remaining balance from the upstream and shows that it was updated. */
export async function askBalance(channel: Channel): Promise<void> {
  await updateBalance(channel)
  toast.info(text('channel.balance.updated', { name: nameOf(channel, text) }))
}

async function duplicate(channel: Channel): Promise<void> {
  await copyChannel(channel)
  toast.success(text('channel.copied', { name: nameOf(channel, text) }))
}

/** Deletes a channel and shows a toast. */
export async function deleteChannel(channel: Channel): Promise<void> {
  await removeChannel(channel)
  toast.success(text('table.deleted', { name: nameOf(channel, text) }))
}

// If the call fails, it shows its own error.
const quietly = (work: Promise<unknown>) => void work.catch(() => undefined)

interface Handlers {
  edit(channel: Channel): void
  /** Asks for confirmation, then deletes. */
  remove(channel: Channel): void
}

/** Actions for one channel. */
export function channelActions(channel: Channel, t: Text, on: Handlers): RowAction[] {
  const enabled = isEnabled(channel)
  return [
    {
      id: 'test',
      label: t('channel.test'),
      icon: <Gauge />,
      primary: true,
      keys: 't',
      run: () => quietly(test(channel)),
    },
    { id: 'edit', label: t('do.edit'), icon: <Pencil />, primary: true, keys: 'e', run: () => on.edit(channel) },
    {
      id: 'toggle',
      label: t(enabled ? 'do.disable' : 'do.enable'),
      icon: enabled ? <Ban /> : <CircleCheck />,
      run: () => quietly(toggleChannel(channel)),
    },
    {
      id: 'balance',
      label: t('channel.updateBalance'),
      icon: <RefreshCw />,
      disabled: !hasBalance(channel.type),
      hint: hasBalance(channel.type) ? undefined : t('channel.balance.unsupported'),
      run: () => quietly(askBalance(channel)),
    },
    ...(isClassicServer()
      ? []
      : [{ id: 'duplicate', label: t('channel.copy'), icon: <CopyPlus />, run: () => quietly(duplicate(channel)) }]),
    { id: 'copy id', label: t('channel.copyId'), icon: <Copy />, run: () => void copyText(String(channel.id)) },
    { id: 'delete', label: t('do.delete'), icon: <Trash2 />, danger: true, run: () => on.remove(channel) },
  ]
}

/** Actions for several channels; `edit` opens the page's dialog. */
export function channelBulk(t: Text, edit: (rows: readonly Channel[]) => void): BulkAction<Channel>[] {
  return [
    { id: 'test', label: t('channel.test'), run: (channel) => testChannel(channel.id, { quiet: true }) },
    {
      id: 'enable',
      label: t('do.enable'),
      applies: (channel) => !isEnabled(channel),
      run: (channel) => setChannelStatus(channel, channelStatus.enabled),
    },
    {
      id: 'disable',
      label: t('do.disable'),
      applies: isEnabled,
      run: (channel) => setChannelStatus(channel, channelStatus.disabled),
    },
    ...(isClassicServer()
      ? []
      : [{ id: 'edit', label: t('channel.bulkEdit'), open: edit, run: async () => undefined }]),
    {
      id: 'delete',
      label: t('do.delete'),
      danger: true,
      confirm: (rows) => ({
        title: t('table.delete.many', { count: rows.length }),
        text: t('channel.delete.manyText'),
        typed: rows.length > 5 ? String(rows.length) : undefined,
      }),
      run: removeChannel,
    },
  ]
}
