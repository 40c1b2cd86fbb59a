import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Overview } from '../../../contract/api/overview.ts'
import { Banner } from '../../components/ui/banner.tsx'
import { Card } from '../../components/ui/page.tsx'
import { RowsSkeleton } from '../../components/ui/states.tsx'
import { formatPercent, formatTime, useFormatSum } from '../../lib/format.ts'
import { lossClass } from '../../lib/loss-class.ts'
import { overviewQuery } from '../../lib/overview.ts'
import { useText } from '../../lib/text.ts'
import { Attention, StatusLine } from './attention.tsx'
import { FailedCard } from './failed-card.tsx'
import { HourFigures } from './hour-figures.tsx'
import { Latest } from './latest.tsx'
import { Outcomes } from './outcomes.tsx'

/** For administrators: whether the installation works, who uses it, and what needs attention. */
export function AdminOverview() {
  const t = useText()
  const { data, error, refetch, isFetching, dataUpdatedAt } = useQuery(overviewQuery)
  if (!data && error) {
    return (
      <FailedCard title={t('home.overview.failed')} error={error} onRetry={() => void refetch()} busy={isFetching} />
    )
  }
  return (
    <>
      {data && error ? (
        <Banner kind="warn" live>
          {t('home.overview.stale', { time: formatTime(dataUpdatedAt / 1000), reason: error.message })}
        </Banner>
      ) : (
        <StatusLine overview={data ?? undefined} />
      )}
      <HourFigures hour={data?.hour} />
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-3">
        <div className="min-w-0 lg:col-span-2">
          <Attention items={data?.attention} />
        </div>
        <Spenders spenders={data?.spenders} />
      </div>
      <Outcomes day={data?.day} />
      <Latest everybody />
      {data?.costs && <Costs costs={data.costs} />}
    </>
  )
}

/** What the last 24 hours cost, and the margin. Shown only if the costs of at least one channel are known. */
function Costs({ costs }: { costs: NonNullable<Overview['costs']> }) {
  const t = useText()
  const formatSum = useFormatSum()
  const items = [
    ['charged', costs.quota],
    ['cost', costs.cost],
    ['margin', costs.margin],
  ] as const
  return (
    <Card title={t('home.costs')}>
      <dl className="grid grid-cols-3 gap-3">
        {items.map(([name, value]) => (
          <div key={name}>
            <dt className="text-sm text-muted">{t(`home.costs.${name}`)}</dt>
            <dd className={`num text-lg font-medium ${lossClass(value)}`}>{formatSum(value)}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}

function Spenders({ spenders }: { spenders: Overview['spenders'] | undefined }) {
  const t = useText()
  const formatSum = useFormatSum()
  return (
    <Card
      title={t('home.spenders')}
      actions={
        <Link to="/usage" search={{ group: 'user', and: 'model' }} className="text-sm text-link hover:underline">
          {t('home.spenders.more')}
        </Link>
      }
    >
      <div className="min-h-40">
        {!spenders && <RowsSkeleton className="h-40 border-0!" />}
        {spenders?.length === 0 && <p className="py-10 text-center text-sm text-muted">{t('home.spenders.none')}</p>}
        <ul className="-my-1.5 divide-y divide-line text-sm">
          {spenders?.map(({ id, name, quota, before }) => (
            <li key={id} className="num flex h-9 items-center gap-3">
              <Link
                to="/usage"
                search={{ user: name, range: '7d' }}
                className="min-w-0 flex-1 truncate hover:underline"
                title={name}
                data-verbatim
              >
                {name}
              </Link>
              <span>{formatSum(quota)}</span>
              <span className="w-16 text-end text-muted">
                {before === 0 ? t('home.spenders.new') : formatPercent(quota / before - 1, 0, 'exceptZero')}
              </span>
            </li>
          ))}
        </ul>
      </div>
    </Card>
  )
}
