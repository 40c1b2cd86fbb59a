import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Log } from '../../../contract/api/log.ts'
import { logType } from '../../../contract/log-types.ts'
import { ModelMark } from '../../components/provider-mark.tsx'
import { buttonClass } from '../../components/ui/button.tsx'
import { Card } from '../../components/ui/page.tsx'
import { ErrorState, RowsSkeleton } from '../../components/ui/states.tsx'
import { formatCount, formatRelative, formatTime, useFormatQuota } from '../../lib/format.ts'
import { rowIdOf } from '../../lib/log-row.ts'
import { useText } from '../../lib/text.ts'
import { latestQuery, latestRows } from './queries.ts'

const quotaDecimals = 6
const isCall = (log: Log) => log.type === logType.consume || log.type === logType.error

/** The newest rows of the log. */
export function Latest({ everybody }: { everybody: boolean }) {
  const t = useText()
  const { data, error, refetch, isFetching } = useQuery(latestQuery(everybody))
  return (
    <Card
      title={t('home.latest')}
      actions={
        <Link to="/log" className={buttonClass({ look: 'quiet', size: 'small' })}>
          {t('home.latest.open')}
        </Link>
      }
    >
      {error && (
        <ErrorState
          title={t('home.latest.failed')}
          text={error.message}
          onRetry={() => void refetch()}
          busy={isFetching}
        />
      )}
      {!error && !data && <RowsSkeleton className="h-44 border-0!" />}
      {!error && data?.length === 0 && <p className="py-10 text-center text-sm text-muted">{t('home.latest.empty')}</p>}
      {!error && data && data.length > 0 && <Rows rows={data} everybody={everybody} />}
    </Card>
  )
}

function Rows({ rows, everybody }: { rows: readonly Log[]; everybody: boolean }) {
  const t = useText()
  const formatQuota = useFormatQuota()
  const head = 'pb-1.5 font-medium whitespace-nowrap'
  return (
    <div style={{ minHeight: rowsHeight }}>
      <table className="w-full text-sm">
        <thead className="text-muted">
          <tr>
            <th scope="col" className={`${head} pr-4 text-start`}>
              {t('home.latest.time')}
            </th>
            {everybody && (
              <th scope="col" className={`${head} pr-4 text-start max-sm:hidden`}>
                {t('home.latest.user')}
              </th>
            )}
            <th scope="col" className={`${head} text-start`}>
              {t('home.latest.what')}
            </th>
            <th scope="col" className={`${head} pl-4 text-end max-sm:hidden`}>
              {t('home.latest.tokens')}
            </th>
            <th scope="col" className={`${head} pl-4 text-end`}>
              {t('home.latest.quota')}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((log) => (
            <tr key={`${log.id} ${log.created_at}`} className="h-8 border-t border-line">
              <td className="pr-4 whitespace-nowrap text-muted">
                <time title={formatTime(log.created_at)}>{formatRelative(log.created_at)}</time>
              </td>
              {everybody && <td className="max-w-28 truncate pr-4 max-sm:hidden">{log.username}</td>}
              <td className="w-full max-w-0 truncate" title={isCall(log) ? log.model_name : log.content}>
                {isCall(log) && log.model_name !== '' && (
                  <ModelMark model={log.model_name} className="me-1.5 align-[-0.25em]" />
                )}
                <Link to="/log" search={{ peek: rowIdOf(log) }} className="hover:underline">
                  {isCall(log) ? log.model_name || log.code : log.content}
                </Link>
                {log.type === logType.error && <span className="text-bad"> · {log.code}</span>}
              </td>
              <td className="num pl-4 text-end whitespace-nowrap max-sm:hidden">
                {log.type === logType.consume && formatCount(log.prompt_tokens + log.completion_tokens)}
              </td>
              <td className="num pl-4 text-end whitespace-nowrap">
                {log.quota !== 0 && formatQuota(log.quota, quotaDecimals)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Height of the heading and all rows in pixels, so that the card keeps its height with fewer rows. */
const rowsHeight = 26 + latestRows * 32
