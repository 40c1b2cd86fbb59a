import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { OwnOverview } from '../../../contract/api/overview.ts'
import { logType } from '../../../contract/log-types.ts'
import { type DotColor, Status } from '../../components/ui/badge.tsx'
import { buttonClass } from '../../components/ui/button.tsx'
import { Card } from '../../components/ui/page.tsx'
import { RowsSkeleton } from '../../components/ui/states.tsx'
import { formatCount, formatRelative, formatTime, useFormatSum } from '../../lib/format.ts'
import { ownOverviewQuery } from '../../lib/overview.ts'
import { useText } from '../../lib/text.ts'
import { FailedCard } from './failed-card.tsx'

/** The user's failed requests and tokens; nothing on a server that does not report them. */
export function OwnParts() {
  const t = useText()
  const { data, error, refetch, isFetching } = useQuery(ownOverviewQuery)
  if (data === null) return null
  if (error && !data) {
    return (
      <FailedCard title={t('home.overview.failed')} error={error} onRetry={() => void refetch()} busy={isFetching} />
    )
  }
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-2">
      <Errors errors={data?.errors} />
      <Tokens overview={data} />
    </div>
  )
}

function Errors({ errors }: { errors: OwnOverview['errors'] | undefined }) {
  const t = useText()
  return (
    <Card
      title={t('home.errors')}
      actions={
        <Link
          to="/log"
          search={{ type: String(logType.error), from: '24h', mine: '1' }}
          className={buttonClass({ look: 'quiet', size: 'small' })}
        >
          {t('home.errors.open')}
        </Link>
      }
    >
      <div className="min-h-24">
        {!errors && <RowsSkeleton className="h-24 border-0!" />}
        {errors?.length === 0 && <p className="py-8 text-center text-sm text-muted">{t('home.errors.none')}</p>}
        <ul className="-my-2 divide-y divide-line text-sm">
          {errors?.map(({ code, message, count, last }) => (
            <li key={code} className="flex min-h-12 flex-wrap items-center gap-x-3 py-2">
              <span className="min-w-0 flex-1">
                <span className="block truncate font-medium" data-verbatim>
                  {code}
                </span>
                <span className="block truncate text-muted" title={message} data-verbatim>
                  {message}
                </span>
              </span>
              <time className="text-muted whitespace-nowrap" title={formatTime(last)}>
                {formatRelative(last)}
              </time>
              <span className="num w-10 text-end">{formatCount(count)}</span>
            </li>
          ))}
        </ul>
      </div>
    </Card>
  )
}

const colors: Readonly<Record<number, DotColor>> = { 1: 'green', 2: 'red', 3: 'yellow', 4: 'grey' }
const isStatus = (status: number): status is 1 | 2 | 3 | 4 => status >= 1 && status <= 4

function Tokens({ overview }: { overview: OwnOverview | undefined }) {
  const t = useText()
  const formatSum = useFormatSum()
  return (
    <Card
      title={t('home.ownTokens')}
      actions={
        <Link to="/token" className={buttonClass({ look: 'quiet', size: 'small' })}>
          {t('home.ownTokens.open', { count: formatCount(overview?.token_count ?? 0) })}
        </Link>
      }
    >
      <div className="min-h-24">
        {!overview && <RowsSkeleton className="h-24 border-0!" />}
        {overview?.tokens.length === 0 && (
          <p className="py-8 text-center text-sm text-muted">{t('home.ownTokens.none')}</p>
        )}
        <ul className="-my-2 divide-y divide-line text-sm">
          {overview?.tokens.map(({ id, name, status, remain_quota, unlimited_quota, accessed_time, used_quota }) => (
            <li key={id} className="flex min-h-12 flex-wrap items-center gap-x-3 py-2">
              <span className="min-w-0 flex-1">
                <Link
                  to="/token"
                  search={{ peek: String(id) }}
                  className="block truncate font-medium hover:underline"
                  data-verbatim
                >
                  {name}
                </Link>
                <span className="block truncate text-muted">
                  {used_quota > 0
                    ? t('home.ownTokens.used', { time: formatRelative(accessed_time) })
                    : t('home.ownTokens.unused')}
                </span>
              </span>
              <span className="num text-muted">
                {unlimited_quota
                  ? t('home.ownTokens.unlimited')
                  : t('home.ownTokens.left', { quota: formatSum(remain_quota) })}
              </span>
              <Status color={colors[status] ?? 'grey'}>
                {isStatus(status) ? t(`home.ownTokens.${status}`) : t('status.unknown')}
              </Status>
            </li>
          ))}
        </ul>
      </div>
    </Card>
  )
}
