import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Spark } from '../../components/chart/spark.tsx'
import { ModelMark } from '../../components/provider-mark.tsx'
import { buttonClass } from '../../components/ui/button.tsx'
import { Kpi } from '../../components/ui/kpi.tsx'
import { Card } from '../../components/ui/page.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import { ChartSkeleton, ErrorState, Skeleton } from '../../components/ui/states.tsx'
import { formatCount, formatNumber, formatPercent, useFormatSum } from '../../lib/format.ts'
import type { KnownUsage } from '../../lib/known-usage.ts'
import { overviewQuery, ownOverviewQuery, refreshing } from '../../lib/overview.ts'
import { selfQuery } from '../../lib/self.ts'
import { isAdmin, type SessionUser } from '../../lib/session.ts'
import { useClassicServer } from '../../lib/status.ts'
import { type Text, useText } from '../../lib/text.ts'
import type { RawSearch } from '../../lib/url-query.ts'
import { oneOf } from '../../lib/url-state.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { AdminOverview } from './admin-overview.tsx'
import { FailedCard } from './failed-card.tsx'
import { FirstSteps } from './first-steps.tsx'
import { Latest } from './latest.tsx'
import { OwnParts } from './own-parts.tsx'
import { spendDays, usageQuery, weekQuery } from './queries.ts'

const scopes = ['all', 'own'] as const

/** The URL determines whose figures are shown. The default is the figures of all users, and is omitted from the URL. */
const parseHomeSearch = (raw: RawSearch): { scope?: 'own' | undefined } => ({ scope: oneOf(raw['scope'], ['own']) })

/**
 * For logged-in users: the first steps, and an overview of the installation or of the user's own account. On servers
 * without overviews, administrators see the figures of all users instead.
 */
export function StartPage({ user }: { user: SessionUser }) {
  const t = useText()
  const [search, setSearch] = useUrlState(parseHomeSearch)
  const everybody = isAdmin(user) && search.scope === undefined
  const username = isAdmin(user) && !everybody ? user.username : undefined
  const classic = useClassicServer()
  const overview = useQuery({ ...overviewQuery, enabled: everybody && !classic })
  const hasOverview = everybody && !classic && overview.data !== null
  return (
    <div className="flex flex-col gap-4">
      <header className="flex min-h-8 flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <p className="text-xl font-semibold tracking-[-0.01em] first-letter:uppercase" aria-hidden="true">
          {t('home.title')}
        </p>
        {isAdmin(user) && (
          <Segmented
            label={t('home.scope')}
            options={scopes.map((value) => ({ value, label: t(`home.scope.${value}`) }))}
            value={everybody ? 'all' : 'own'}
            onChange={(scope) => setSearch({ scope: scope === 'own' ? scope : undefined }, { replace: true })}
          />
        )}
      </header>
      <FirstSteps key={user.id} user={user} />
      {hasOverview ? (
        <AdminOverview />
      ) : (
        <>
          <Figures username={username} />
          {!everybody && !classic && <OwnParts />}
          <div className="grid items-start gap-4 lg:grid-cols-3">
            <div className="min-w-0 lg:col-span-2">
              <Latest everybody={everybody} />
            </div>
            <Spend username={username} own={!everybody && !classic} />
          </div>
        </>
      )}
    </div>
  )
}

function Figures({ username }: { username: string | undefined }) {
  const t = useText()
  const formatSum = useFormatSum()
  const self = useQuery({ ...selfQuery, ...refreshing })
  const week = useQuery({ ...weekQuery(username), ...refreshing })
  const classic = useClassicServer()
  const own = useQuery({ ...ownOverviewQuery, enabled: !classic })
  const failed = self.error ?? week.error
  if (failed) {
    const retry = () => void Promise.all([self.refetch(), week.refetch()])
    return <FailedCard title={t('home.figures.failed')} error={failed} onRetry={retry} busy={week.isFetching} />
  }
  const total = week.data?.total
  // A non-breaking space reserves the height of a note that is not known yet.
  const blank = '\u00a0'
  return (
    <section aria-label={t('home.figures')} className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      {week.data?.fromRows !== undefined && (
        <p className="col-span-full text-sm text-muted">{t('home.fromRows', { count: week.data.fromRows })}</p>
      )}
      <Kpi
        label={t('home.remaining')}
        loading={self.isPending}
        value={self.data && formatSum(self.data.quota)}
        note={
          self.data
            ? (lastsText(own.data?.days_left, t) ?? t('home.used', { quota: formatSum(self.data.used_quota) }))
            : blank
        }
      />
      <Kpi
        label={t('home.today')}
        loading={week.isPending}
        value={formatSum(week.data?.values.at(-1) ?? 0)}
        note={total ? t('home.week', { quota: formatSum(total.quota) }) : blank}
      />
      <Kpi
        label={t('home.requests')}
        loading={week.isPending}
        value={formatCount(total?.requests ?? 0)}
        note={total ? t('home.requests.failed', { count: total.failed }) : blank}
      />
      <Kpi
        label={t('home.tokens')}
        loading={week.isPending}
        value={formatNumber(total?.tokens ?? 0)}
        note={
          total
            ? t('home.tokens.parts', {
                prompt: formatNumber(total.prompt_tokens),
                completion: formatNumber(total.completion_tokens),
              })
            : blank
        }
      />
    </section>
  )
}

const longDays = 365

/** How long the balance lasts; undefined if this is not known. */
function lastsText(days: number | null | undefined, t: Text): string | undefined {
  if (days === null || days === undefined) return undefined
  if (days <= 0) return t('home.lasts.over')
  return days > longDays ? t('home.lasts.long') : t('home.lasts', { days: Math.floor(days) })
}

/** The models with the highest spending, each with its share. */
function Models({ usage, user }: { usage: KnownUsage | undefined; user: string | undefined }) {
  const formatSum = useFormatSum()
  if (!usage) return <ChartSkeleton className="mt-3 h-32 w-full border-0! px-0! pt-4!" />
  const groups = usage.groups.filter(({ name, total }) => name !== '' && total.quota > 0)
  if (groups.length === 0) return null
  return (
    <ul className="mt-3 border-t border-line pt-1.5 text-sm">
      {groups.map(({ key, name, total }) => (
        <li key={key} className="num flex items-center gap-3 py-1">
          <ModelMark model={name} />
          <Link
            to="/usage"
            search={{ model: name, group: 'token', user }}
            className="min-w-0 flex-1 truncate hover:underline"
            title={name}
            data-verbatim
          >
            {name}
          </Link>
          <span className="text-muted">{formatPercent(total.quota / usage.total.quota, 0)}</span>
          <span>{formatSum(total.quota)}</span>
        </li>
      ))}
    </ul>
  )
}

/** `own` means that the figures are the user's own; the card then also links to the statements. */
function Spend({ username, own }: { username: string | undefined; own: boolean }) {
  const t = useText()
  const formatSum = useFormatSum()
  const { data, error, refetch, isFetching } = useQuery(usageQuery(spendDays, username))
  const values = data?.values.slice(-spendDays) ?? []
  const total = formatSum(data?.total.quota ?? 0)
  return (
    <Card
      title={t('home.spend')}
      actions={
        <span className="flex flex-wrap">
          {own && (
            <Link to="/statement" className={buttonClass({ look: 'quiet', size: 'small' })}>
              {t('home.statement')}
            </Link>
          )}
          <Link to="/usage" className={buttonClass({ look: 'quiet', size: 'small' })}>
            {t('home.spend.open')}
          </Link>
        </span>
      }
    >
      {error ? (
        <ErrorState
          title={t('home.figures.failed')}
          text={error.message}
          onRetry={() => void refetch()}
          busy={isFetching}
        />
      ) : (
        <>
          <p className="num text-2xl font-semibold tracking-[-0.02em]">
            {data ? total : <Skeleton className="h-8 w-24" />}
          </p>
          <div className="mt-3 h-7">
            {data && (
              <Spark
                values={values}
                summary={t('home.spend.summary', { total, today: formatSum(values.at(-1) ?? 0) })}
              />
            )}
          </div>
          <p className="mt-1 flex justify-between text-xs text-muted">
            <span>{t('home.spend.from')}</span>
            <span>{t('home.spend.to')}</span>
          </p>
          <Models usage={data} user={username} />
        </>
      )}
    </Card>
  )
}
