import { useQuery } from '@tanstack/react-query'
import type { AlertHistory } from '../../../contract/api/alert.ts'
import { Pagination } from '../../components/data-table/pagination.tsx'
import { type DotColor, dotMark, Status } from '../../components/ui/badge.tsx'
import { EmptyState, ErrorState, RowsSkeleton } from '../../components/ui/states.tsx'
import { formatRelative, formatTime } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import { type AlertScope, historyQuery, historySize } from './queries.ts'

interface HistoryProps {
  scope: AlertScope
  page: number
  onPage(page: number): void
}

/** The messages that the rules sent, newest first, with the result at each destination. */
export function History({ scope, page, onPage }: HistoryProps) {
  const t = useText()
  const { data, error, isFetching, isPlaceholderData, refetch } = useQuery(historyQuery(scope, page))
  if (error && !data)
    return (
      <ErrorState
        title={t('alert.error.history')}
        text={error.message}
        onRetry={() => void refetch()}
        busy={isFetching}
      />
    )
  if (!data) return <RowsSkeleton className="h-72" />
  const pages = Math.max(1, Math.ceil(data.total / historySize))
  return (
    <div aria-busy={isPlaceholderData}>
      <div className="rounded-lg border border-line bg-surface">
        {data.rows.length === 0 ? (
          <EmptyState title={t('alert.history.empty')} text={t('alert.history.empty.text')} />
        ) : (
          <ul className="divide-y divide-line">
            {data.rows.map((row) => (
              <HistoryRow key={row.id} row={row} />
            ))}
          </ul>
        )}
      </div>
      {pages > 1 && (
        <Pagination page={page} pages={pages} total={data.total} onPage={onPage} onNear={() => undefined} />
      )}
    </div>
  )
}

const eventColors: Readonly<Record<AlertHistory['event'], DotColor>> = {
  firing: 'red',
  reminder: 'orange',
  resolved: 'green',
}
const deliveryColors: Readonly<Record<AlertHistory['deliveries'][number]['status'], DotColor>> = {
  waiting: 'yellow',
  held: 'purple',
  sent: 'green',
  failed: 'red',
}

function HistoryRow({ row: { event, time, title, text, deliveries } }: { row: AlertHistory }) {
  const t = useText()
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-1 px-4 py-3 text-sm">
      <div className="flex w-full gap-3 sm:block sm:w-28">
        <Status color={eventColors[event]}>{t(`alert.event.${event}`)}</Status>
        <p className="text-muted" title={formatTime(time)}>
          {formatRelative(time)}
        </p>
      </div>
      <div className="min-w-0 flex-1 basis-52">
        <h2 className="font-medium break-words">{title}</h2>
        <p className="break-words whitespace-pre-line text-muted">{text}</p>
      </div>
      <ul className="min-w-0 basis-60">
        {deliveries.length === 0 && <li className="text-muted">{t('alert.delivery.none')}</li>}
        {deliveries.map(({ destination, status, attempts, error }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: several destinations can have the same name
          <li key={index}>
            <p className="flex items-baseline gap-1.5" data-color={deliveryColors[status]}>
              <span
                className={`size-1.5 shrink-0 -translate-y-0.5 rounded-full ${dotMark[deliveryColors[status]]}`}
                aria-hidden="true"
              />
              <span className="min-w-0 break-words">
                {t('alert.delivery.of', { name: destination, status: t(`alert.delivery.${status}`) })}
              </span>
            </p>
            {error !== '' && (
              <p className="break-words text-bad">
                {error} {attempts > 0 && `(${t('alert.delivery.attempts', { count: attempts })})`}
              </p>
            )}
          </li>
        ))}
      </ul>
    </li>
  )
}
