import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleAlert, CircleCheck, CircleHelp, CircleX } from 'lucide-react'
import type { StatusPage as Feed, Incident, ServiceFamily, ServiceState } from '../../../contract/api/status-page.ts'
import { modelFamilies } from '../../../contract/model-families.ts'
import { ProviderMark } from '../../components/provider-mark.tsx'
import { type DotColor, Status } from '../../components/ui/badge.tsx'
import { buttonClass } from '../../components/ui/button.tsx'
import { Loading } from '../../components/ui/loading.tsx'
import { Card, Page } from '../../components/ui/page.tsx'
import { EmptyState, ErrorState } from '../../components/ui/states.tsx'
import { basePath } from '../../lib/base-path.ts'
import { CallError } from '../../lib/call.ts'
import { usePageCrumb } from '../../lib/crumb.ts'
import { isAdmin, useSessionUser } from '../../lib/session.ts'
import { useServerStatus, useStatusState } from '../../lib/status.ts'
import { languageTag, useText } from '../../lib/text.ts'
import { DayBars, uptimeText } from './day-bars.tsx'
import { refreshMs, statusPageQuery } from './queries.ts'

/** `/status`: whether the service works. The page is public if the administrators publish it. */
export function StatusPage() {
  const t = useText()
  usePageCrumb(t('status.page.title'))
  const state = useStatusState()
  const { status_page } = useServerStatus()
  const isOff = state === 'fresh' && !status_page
  const { data, error, isPending, refetch } = useQuery({
    ...statusPageQuery,
    enabled: !isOff,
    // A server without a status page answers 404 every time, so there is no retry.
    retry: (count, failure) => !isMissing(failure) && count < 2,
    refetchInterval: ({ state }) => (isMissing(state.error) ? false : refreshMs),
  })
  return (
    <Page title={t('status.page.title')} width="narrow">
      {isOff || isMissing(error) ? (
        <NoStatusPage />
      ) : isPending ? (
        <Loading what={t('status.page.title')} />
      ) : data ? (
        <Content feed={data} stale={error !== null} />
      ) : (
        <ErrorState title={t('status.page.failed')} text={error?.message ?? ''} onRetry={() => void refetch()} />
      )}
    </Page>
  )
}

const isMissing = (error: Error | null) => error instanceof CallError && error.status === 404

function NoStatusPage() {
  const t = useText()
  if (!isAdmin(useSessionUser())) return <EmptyState title={t('status.page.off')} />
  return (
    <EmptyState title={t('status.page.off')} text={t('status.page.off.admin')}>
      <Link to="/setting" search={{ tab: 'other' }} className={buttonClass()}>
        {t('status.page.off.settings')}
      </Link>
    </EmptyState>
  )
}

function Content({ feed, stale }: { feed: Feed; stale: boolean }) {
  const t = useText()
  const { families, incidents, updated } = feed
  return (
    <div className="flex flex-col gap-4">
      <Overall feed={feed} stale={stale} />
      <Card title={t('status.page.families')}>
        {families.length === 0 ? (
          <EmptyState title={t('status.page.empty')} text={t('status.page.empty.text')} />
        ) : (
          <>
            <ul className="-my-1 divide-y divide-line">
              {families.map((family) => (
                <FamilyRow key={family.id} family={family} firstDay={feed.first_day} />
              ))}
            </ul>
            <p className="mt-3 border-t border-line pt-3 text-sm text-muted">{t('status.page.how')}</p>
          </>
        )}
      </Card>
      <Card title={t('status.page.incidents')}>
        {incidents.length === 0 ? (
          <p className="text-sm text-muted">{t('status.page.incidents.none')}</p>
        ) : (
          <ul className="flex flex-col gap-2">
            {incidents.map((incident) => (
              <IncidentLine key={`${incident.family} ${incident.from}`} incident={incident} />
            ))}
          </ul>
        )}
      </Card>
      <p className="text-sm text-muted">
        <time dateTime={new Date(updated * 1000).toISOString()}>
          {t(stale ? 'status.page.stale' : 'status.page.updated', { time: clockText(updated) })}
        </time>{' '}
        <a href={`${basePath}/api/status-page`} className="text-link underline">
          {t('status.page.feed')}
        </a>
      </p>
    </div>
  )
}

const banners: Readonly<Record<ServiceState, { icon: typeof CircleCheck; look: string }>> = {
  up: { icon: CircleCheck, look: 'bg-good-tint text-good' },
  degraded: { icon: CircleAlert, look: 'bg-warn-tint text-warn' },
  down: { icon: CircleX, look: 'bg-bad-tint text-bad' },
  none: { icon: CircleHelp, look: 'bg-sunken text-muted' },
}

function Overall({ feed: { state }, stale }: { feed: Feed; stale: boolean }) {
  const t = useText()
  const { icon: Icon, look } = banners[state]
  return (
    <p
      role="status"
      className={`flex items-center gap-3 rounded-lg border border-line px-4 py-3.5 text-lg font-medium ${look} ${stale ? 'opacity-80' : ''}`}
    >
      <Icon className="size-5 shrink-0" aria-hidden="true" />
      {t(`status.page.all.${state}`)}
    </p>
  )
}

const dots: Readonly<Record<ServiceState, DotColor>> = { up: 'green', degraded: 'orange', down: 'red', none: 'grey' }

function FamilyRow({ family, firstDay }: { family: ServiceFamily; firstDay: number }) {
  const t = useText()
  const { id, name, state, uptime, days } = family
  const maker = modelFamilies.find((each) => each.id === id)?.maker || name
  return (
    <li className="py-3">
      <div className="mb-1.5 flex items-center gap-2">
        <ProviderMark name={maker} />
        <h3 className="min-w-0 flex-1 truncate font-medium">{name}</h3>
        <Status color={dots[state]}>{t(`status.page.${state}`)}</Status>
      </div>
      <DayBars family={family} firstDay={firstDay} />
      <p className="num mt-1 flex justify-between gap-2 text-xs text-muted">
        <span>{t('status.page.ago', { days: days.length })}</span>
        <span>
          {uptime === null ? t('status.page.uptime.none') : t('status.page.uptime', { uptime: uptimeText(uptime) })}
        </span>
        <span>{t('status.page.today')}</span>
      </p>
    </li>
  )
}

/** Hours and minutes in the reader's time zone. */
function clockText(seconds: number): string {
  return new Intl.DateTimeFormat(languageTag(), { timeStyle: 'short' }).format(seconds * 1000)
}

function IncidentLine({ incident: { family, state, from, to } }: { incident: Incident }) {
  const t = useText()
  const kind = state === 'down' ? 'down' : 'degraded'
  const values = { family, from: clockText(from) }
  return (
    <li>
      <Status color={dots[state]}>
        <span className="whitespace-normal">
          {to === 0
            ? t(`status.page.incident.${kind}.open`, values)
            : t(`status.page.incident.${kind}`, { ...values, to: clockText(to) })}
        </span>
      </Status>
    </li>
  )
}
