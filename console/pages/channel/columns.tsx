import { RefreshCw } from 'lucide-react'
import { useState } from 'react'
import type { Channel } from '../../../contract/api/channel.ts'
import { channelStatus } from '../../../contract/statuses.ts'
import { Amount } from '../../components/amount.tsx'
import type { Column } from '../../components/data-table/types.ts'
import { Groups } from '../../components/groups.tsx'
import { Room } from '../../components/ui/badge.tsx'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { formatRelative, formatTime } from '../../lib/format.ts'
import { type Text, useText } from '../../lib/text.ts'
import { askBalance } from './actions.tsx'
import {
  balanceText,
  ChannelName,
  ChannelStatus,
  hasBalance,
  listOf,
  nameOf,
  ResponseTime,
  statusText,
  TypeBadge,
} from './channel-parts.tsx'

const allStatuses = Object.values(channelStatus)

/** The columns of the list; `typeName` names the types for sorting and export. */
export function channelColumns(t: Text, typeName: (type: number) => string): Column<Channel>[] {
  return [
    {
      id: 'id',
      header: t('channel.id'),
      cell: (channel) => channel.id,
      value: (channel) => channel.id,
      sortable: true,
      align: 'end',
      skeleton: 'w-8',
    },
    {
      id: 'name',
      header: t('channel.name'),
      cell: (channel) => <ChannelName channel={channel} />,
      value: (channel) => channel.name,
      sortable: true,
      required: true,
      card: 'title',
      skeleton: 'w-28',
    },
    {
      id: 'group',
      header: t('channel.group'),
      cell: (channel) => <Groups group={channel.group} />,
      value: (channel) => channel.group,
      sortable: true,
      skeleton: 'w-14',
    },
    {
      id: 'type',
      header: t('channel.type'),
      cell: (channel) => <TypeBadge type={channel.type} />,
      value: (channel) => typeName(channel.type),
      sortable: true,
      skeleton: 'w-20',
    },
    {
      id: 'status',
      header: t('channel.status'),
      cell: (channel) => (
        <Room texts={allStatuses.map((status) => statusText(status, t))}>
          <ChannelStatus channel={channel} />
        </Room>
      ),
      value: (channel) => statusText(channel.status, t),
      sortable: true,
      card: 'badge',
      skeleton: 'w-16',
    },
    {
      id: 'response_time',
      header: t('channel.responseTime'),
      cell: (channel) => (
        <Room texts={[t('channel.testFailed'), t('channel.untested'), t('channel.seconds', { seconds: '99.99' })]}>
          <ResponseTime channel={channel} />
        </Room>
      ),
      value: (channel) => channel.response_time,
      sortable: true,
      skeleton: 'w-16',
    },
    {
      id: 'balance',
      header: t('channel.balance'),
      cell: (channel) => <Balance channel={channel} />,
      value: (channel) => (hasBalance(channel.type) ? channel.balance : undefined),
      sortable: true,
      align: 'end',
      wraps: true,
      skeleton: 'w-20',
    },
    ...further(t),
  ]
}

function further(t: Text): Column<Channel>[] {
  return [
    {
      id: 'models',
      header: t('channel.models'),
      cell: (channel) => <span title={listOf(channel.models).join(', ')}>{listOf(channel.models).length}</span>,
      value: (channel) => listOf(channel.models).length,
      align: 'end',
      card: 'hide',
      skeleton: 'w-8',
    },
    {
      id: 'priority',
      header: t('channel.priority'),
      cell: (channel) => channel.priority,
      value: (channel) => channel.priority,
      sortable: true,
      align: 'end',
      card: 'hide',
      skeleton: 'w-8',
    },
    {
      id: 'weight',
      header: t('channel.weight'),
      cell: (channel) => channel.weight,
      value: (channel) => channel.weight,
      sortable: true,
      align: 'end',
      hidden: true,
      card: 'hide',
      skeleton: 'w-8',
    },
    {
      id: 'used_quota',
      header: t('channel.used'),
      cell: (channel) => <Amount quota={channel.used_quota} />,
      value: (channel) => channel.used_quota,
      sortable: true,
      align: 'end',
      hidden: true,
      card: 'hide',
      skeleton: 'w-14',
    },
    {
      id: 'test_time',
      header: t('channel.testTime'),
      cell: (channel) =>
        channel.test_time > 0 ? (
          <time title={formatRelative(channel.test_time)}>{formatTime(channel.test_time)}</time>
        ) : (
          <span className="text-muted">{t('channel.untested')}</span>
        ),
      value: (channel) => channel.test_time,
      sortable: true,
      hidden: true,
      card: 'hide',
      wraps: true,
    },
  ]
}

/** The balance that the upstream reports, and a button to refresh it. */
function Balance({ channel }: { channel: Channel }) {
  const t = useText()
  const [busy, setBusy] = useState(false)
  if (!hasBalance(channel.type)) return <span className="text-muted">{balanceText(channel, t)}</span>
  const when = channel.balance_updated_time
  const ask = async () => {
    setBusy(true)
    // If the call fails, it shows its own error.
    await askBalance(channel).catch(() => undefined)
    setBusy(false)
  }
  return (
    <span className="inline-flex items-center gap-0.5">
      <span
        // Muted if the balance has never been requested, because it is not known yet.
        className={when > 0 ? '' : 'text-muted'}
        title={when > 0 ? t('channel.balance.at', { time: formatTime(when) }) : t('channel.balance.never')}
      >
        {balanceText(channel, t)}
      </span>
      <IconButton
        label={t('channel.balance.update', { name: nameOf(channel, t) })}
        icon={<RefreshCw className={busy ? 'animate-spin' : ''} />}
        disabled={busy}
        onClick={() => void ask()}
      />
    </span>
  )
}
