import type { Log } from '../../../contract/api/log.ts'
import { logType } from '../../../contract/log-types.ts'
import { Cut } from '../../components/data-table/cut.tsx'
import type { Column } from '../../components/data-table/types.ts'
import { Badge } from '../../components/ui/badge.tsx'
import { formatCount, formatQuota, formatRelative, formatTime } from '../../lib/format.ts'
import { type Text, useText } from '../../lib/text.ts'
import { isCutShort, LogTypeLabel, outcomeText, typeText } from './log-parts.tsx'

const logDecimals = 6

/** The columns of the list; `everybody` adds the user and channel columns. */
export function logColumns(t: Text, everybody: boolean): Column<Log>[] {
  const count = (id: 'prompt_tokens' | 'completion_tokens', header: string): Column<Log> => ({
    id,
    header,
    cell: (log) => (log[id] === 0 ? '' : formatCount(log[id])),
    value: (log) => log[id],
    sortable: true,
    align: 'end',
    skeleton: 'w-10',
  })
  const name = (id: 'username' | 'token_name' | 'model_name', header: string): Column<Log> => ({
    id,
    header,
    cell: (log) => <Cut text={log[id]} width="max-w-36" />,
    value: (log) => log[id],
    skeleton: 'w-20',
  })
  return [
    {
      id: 'created_at',
      header: t('log.time'),
      cell: (log) => <time title={formatRelative(log.created_at)}>{formatTime(log.created_at)}</time>,
      value: (log) => formatTime(log.created_at),
      sortable: true,
      required: true,
      card: 'title',
      skeleton: 'w-36',
    },
    ...(everybody ? [name('username', t('log.user'))] : []),
    name('token_name', t('log.token')),
    {
      id: 'type',
      header: t('log.type'),
      cell: (log) => <LogTypeLabel type={log.type} />,
      value: (log) => typeText(log.type, t),
      card: 'badge',
      skeleton: 'w-20',
    },
    name('model_name', t('log.model')),
    count('prompt_tokens', t('log.prompt')),
    count('completion_tokens', t('log.completion')),
    {
      id: 'quota',
      header: t('log.quota'),
      cell: (log) => (log.quota === 0 ? '' : formatQuota(log.quota, logDecimals)),
      value: (log) => log.quota,
      sortable: true,
      align: 'end',
      skeleton: 'w-16',
    },
    {
      id: 'content',
      header: t('log.detail'),
      cell: (log) => <Detail log={log} />,
      value: (log) => log.content,
      grows: true,
      skeleton: 'w-40',
    },
    ...times(t),
    ...(everybody ? [channelColumn(t)] : []),
  ]
}

/** The row's text. In front of it, an incomplete call shows how it ended, and a failed call shows why it failed. */
function Detail({ log }: { log: Log }) {
  const t = useText()
  const content = <Cut text={log.content} width="max-sm:max-w-64" />
  if (log.type === logType.error)
    return (
      <span className="flex min-w-0 items-center gap-2 max-sm:justify-end">
        <Badge color="red">
          <span data-verbatim>
            {log.status} {log.code}
          </span>
        </Badge>
        {content}
      </span>
    )
  if (!isCutShort(log)) return content
  return (
    <span className="flex min-w-0 items-center gap-2 max-sm:justify-end">
      <Badge color={log.outcome === 'interrupted' ? 'red' : 'grey'}>{outcomeText(log.outcome, t)}</Badge>
      {content}
    </span>
  )
}

function channelColumn(t: Text): Column<Log> {
  return {
    id: 'channel',
    header: t('log.channel'),
    cell: (log) => (log.channel > 0 ? log.channel : ''),
    value: (log) => log.channel,
    align: 'end',
    hidden: true,
    card: 'hide',
    skeleton: 'w-8',
  }
}

function times(t: Text): Column<Log>[] {
  const time = (id: 'elapsed_time' | 'first_byte_time', header: string): Column<Log> => ({
    id,
    header,
    cell: (log) => (log[id] > 0 ? t('log.ms', { value: formatCount(log[id]) }) : ''),
    value: (log) => log[id],
    sortable: true,
    align: 'end',
    hidden: true,
    card: 'hide',
    skeleton: 'w-12',
  })
  return [time('elapsed_time', t('log.duration')), time('first_byte_time', t('log.firstByte'))]
}
