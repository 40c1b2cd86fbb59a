import type { AuditRow } from '../../../contract/api/audit.ts'
import { Cut } from '../../components/data-table/cut.tsx'
import type { Column } from '../../components/data-table/types.ts'
import { TimeText } from '../../components/time-text.tsx'
import { formatRelative, formatTime } from '../../lib/format.ts'
import type { Text } from '../../lib/text.ts'
import { actionWords, detailWords, targetWords } from './audit-words.ts'

/** The columns of the audit log. */
export function auditColumns(t: Text): Column<AuditRow>[] {
  return [
    {
      id: 'created_at',
      header: t('audit.time'),
      cell: (row) => (
        <time
          className="num"
          dateTime={new Date(row.created_at * 1000).toISOString()}
          title={formatRelative(row.created_at)}
        >
          <TimeText seconds={row.created_at} />
        </time>
      ),
      value: (row) => formatTime(row.created_at),
      sortable: true,
      wraps: true,
    },
    {
      id: 'action',
      header: t('audit.action'),
      cell: (row) => <Action action={row.action} />,
      value: (row) => row.action,
      required: true,
      card: 'title',
      skeleton: 'w-28',
    },
    {
      id: 'actor_name',
      header: t('audit.actor'),
      cell: (row) =>
        row.actor_name === '' ? (
          <span className="text-muted">{t('audit.nobody')}</span>
        ) : (
          <Cut width="max-w-48" text={row.actor_name} />
        ),
      value: (row) => row.actor_name,
      skeleton: 'w-20',
    },
    {
      id: 'target',
      header: t('audit.target'),
      cell: (row) => <Cut width="max-w-48" text={targetWords(row.target)} />,
      value: (row) => row.target,
      skeleton: 'w-28',
    },
    {
      id: 'detail',
      header: t('audit.detail'),
      cell: (row) => (
        <span className="block max-w-96 min-w-40 py-1 break-words whitespace-normal">
          {detailWords(row.action, row.detail)}
        </span>
      ),
      value: (row) => row.detail,
      skeleton: 'w-48',
    },
    {
      id: 'ip',
      header: t('audit.ip'),
      cell: (row) => <span className="num">{row.ip}</span>,
      value: (row) => row.ip,
      skeleton: 'w-24',
    },
  ]
}

/** An action in words, followed by the name that the filter and the API use. */
function Action({ action }: { action: string }) {
  const words = actionWords(action)
  return (
    <span className="block py-1">
      {words !== undefined && <span className="block">{words}</span>}
      <code className={`font-mono text-xs ${words === undefined ? '' : 'text-muted'}`}>{action}</code>
    </span>
  )
}
