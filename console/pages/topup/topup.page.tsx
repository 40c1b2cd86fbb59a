import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Suspense } from 'react'
import { logType } from '../../../contract/log-types.ts'
import { Kpi } from '../../components/ui/kpi.tsx'
import { Card, Page } from '../../components/ui/page.tsx'
import { EmptyState, ErrorState, RowsSkeleton } from '../../components/ui/states.tsx'
import { formatTime, useFormatSum } from '../../lib/format.ts'
import { lazy } from '../../lib/lazy.ts'
import { selfQuery } from '../../lib/self.ts'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { historyQuery, spentQuery } from './queries.ts'
import { RedeemCard } from './redeem-card.tsx'

const Limits = lazy(() => import('../../components/limits.tsx').then((it) => ({ default: it.Limits })))

/** `/topup`: redeem codes to increase the balance. */
export function TopUpPage() {
  const t = useText()
  return (
    <Page title={t('topup.title')}>
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]">
        <RedeemCard />
        <Figures />
        <div className="lg:col-span-2">
          <History />
        </div>
      </div>
    </Page>
  )
}

/** The balance and how long it will last, the spending, and the limits of the account. */
function Figures() {
  const t = useText()
  const formatSum = useFormatSum()
  const self = useQuery(selfQuery)
  const week = useQuery(spentQuery(7))
  const month = useQuery(spentQuery(30))
  if (self.isError) {
    return (
      <ErrorState title={t('topup.balance.failed')} text={self.error.message} onRetry={() => void self.refetch()} />
    )
  }
  const show = (quota: number | undefined) => (quota === undefined ? '–' : formatSum(quota))
  return (
    <div className="grid grid-cols-2 gap-3">
      <div className="col-span-2" aria-live="polite">
        <Kpi
          label={t('topup.balance')}
          value={show(self.data?.quota)}
          loading={self.isPending}
          note={self.data && `${t('topup.used')}: ${formatSum(self.data.used_quota)}`}
        />
      </div>
      <Kpi
        label={t('topup.spent7')}
        value={show(week.data)}
        loading={week.isPending}
        note={
          <>
            {t('topup.spent30')}: {show(month.data)}
          </>
        }
      />
      <Kpi
        label={t('topup.lasts')}
        value={<Lasts quota={self.data?.quota} week={week.data} />}
        loading={self.isPending || week.isPending}
        note={t(week.data === 0 ? 'topup.lasts.none' : 'topup.lasts.note')}
      />
      <Suspense fallback={null}>
        <Limits
          of={self.data}
          note={t('topup.limits')}
          heading="h2"
          className="col-span-2 rounded-lg border border-line bg-surface px-4 py-3"
        />
      </Suspense>
    </div>
  )
}

const yearDays = 365

function Lasts({ quota, week }: { quota: number | undefined; week: number | undefined }) {
  const t = useText()
  if (quota === undefined || week === undefined) return '–'
  if (quota <= 0) return t('topup.lasts.over')
  if (week <= 0) return '∞'
  const days = Math.floor((quota / week) * 7)
  return days > yearDays ? t('topup.lasts.long') : t('topup.lasts.days', { count: days })
}

function History() {
  const t = useText()
  const { data, error, refetch, isPending } = useQuery(historyQuery)
  const classic = useClassicServer()
  const all = (
    <span className="flex flex-wrap gap-x-4 gap-y-1 text-sm">
      {!classic && (
        <Link to="/statement" className="text-link hover:underline">
          {t('topup.statement')}
        </Link>
      )}
      <Link to="/log" search={{ type: String(logType.topUp) }} className="text-link hover:underline">
        {t('topup.history.all')}
      </Link>
    </span>
  )
  return (
    <Card title={t('topup.history')} actions={all}>
      {isPending ? (
        <RowsSkeleton className="h-24 border-0!" />
      ) : error ? (
        <ErrorState title={t('topup.history.failed')} text={error.message} onRetry={() => void refetch()} />
      ) : data.length === 0 ? (
        <EmptyState title={t('topup.history.empty')} />
      ) : (
        <table className="w-full text-sm">
          <caption className="sr-only">{t('topup.history')}</caption>
          <thead className="sr-only">
            <tr>
              <th scope="col">{t('topup.history.time')}</th>
              <th scope="col">{t('topup.history.text')}</th>
            </tr>
          </thead>
          <tbody>
            {data.map((row) => (
              <tr key={row.id} className="border-b border-line last:border-0">
                <td className="num py-2 pr-6 align-top whitespace-nowrap text-muted">{formatTime(row.created_at)}</td>
                <td className="w-full py-2 break-words">{row.content}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  )
}
