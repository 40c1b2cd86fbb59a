import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { type ReactNode, Suspense } from 'react'
import type { Log } from '../../../contract/api/log.ts'
import { logType } from '../../../contract/log-types.ts'
import { Banner } from '../../components/ui/banner.tsx'
import { CopyField } from '../../components/ui/copy-field.tsx'
import { Card, Page } from '../../components/ui/page.tsx'
import { DetailsSkeleton, EmptyState, ErrorState, Skeleton } from '../../components/ui/states.tsx'
import { formatNumber, formatRelative, formatTime } from '../../lib/format.ts'
import { lazy } from '../../lib/lazy.ts'
import { requestStart } from '../../lib/request-id.ts'
import { isAdmin, isRoot, useSessionUser } from '../../lib/session.ts'
import { useClassicServer } from '../../lib/status.ts'
import { loadAreas, useText } from '../../lib/text.ts'
import { ChannelLink } from './attempts.tsx'
import { CostCard } from './cost-card.tsx'
import { LogTypeLabel } from './log-parts.tsx'
import { durationText, isCall, Outcome } from './outcome.tsx'
import { requestQuery } from './queries.ts'
import { RequestActions } from './request-actions.tsx'
import { SentCard } from './sent-card.tsx'
import { Waterfall } from './waterfall.tsx'

const Payload = lazy(async () => {
  const [{ Payload }] = await Promise.all([import('./payload.tsx'), loadAreas(['recording'])])
  return { default: Payload }
})

/** A request that began less than this many seconds ago may still be running. */
const mayRunSeconds = 900

/** `/log/{request id}`: what happened to one request. Users see only their own requests. */
export function RequestPage() {
  const t = useText()
  const { id = '' } = useParams({ strict: false })
  const admin = isAdmin(useSessionUser())
  const classic = useClassicServer()
  const { data: log, error, refetch, isFetching } = useQuery({ ...requestQuery(id, admin), enabled: !classic })
  return (
    <Page title={t('log.inspect.title')} {...(log && { actions: <RequestActions log={log} /> })}>
      <div className="flex flex-col gap-4">
        <CopyField label={t('log.peek.request')} value={id} />
        {log && <Inspected log={log} admin={admin} isOther={log.request_id !== id} />}
        {(log === null || classic) && (
          <div role="status">
            <NotFound id={id} />
          </div>
        )}
        {error && !log && (
          <ErrorState
            title={t('log.request.failed')}
            text={error.message}
            onRetry={() => void refetch()}
            busy={isFetching}
          />
        )}
        {log === undefined && !error && !classic && <DetailsSkeleton />}
      </div>
    </Page>
  )
}

/** Explains why a request may have no log row. The time at which it began is part of its id. */
function NotFound({ id }: { id: string }) {
  const t = useText()
  const start = requestStart(id)
  const now = Date.now() / 1000
  const why =
    start === undefined
      ? t('log.inspect.none.noId')
      : now - start < mayRunSeconds
        ? t('log.inspect.none.running')
        : t('log.inspect.none.past', { time: formatTime(start) })
  return (
    <EmptyState title={t('log.inspect.none')} text={why}>
      <Link to="/log" className="text-sm text-link underline">
        {t('log.inspect.back')}
      </Link>
    </EmptyState>
  )
}

function Inspected({ log, admin, isOther }: { log: Log; admin: boolean; isOther: boolean }) {
  const t = useText()
  const root = isRoot(useSessionUser())
  const isError = log.type === logType.error
  return (
    <>
      {isOther && <Banner kind="info">{t('log.request.leftOut', { count: log.left_out })}</Banner>}
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <span className="text-base font-medium">
          {isCall(log) ? <Outcome log={log} /> : <LogTypeLabel type={log.type} />}
        </span>
        <span className="text-sm text-muted">
          {formatTime(log.created_at)} ({formatRelative(log.created_at)})
        </span>
      </div>
      {isError && <Failure log={log} admin={admin} />}
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-4">
          {isCall(log) && <Waterfall log={log} />}
          {log.type === logType.consume && <CostCard log={log} />}
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <Details log={log} admin={admin} />
          {log.request && <SentCard request={log.request} />}
        </div>
      </div>
      {root && isCall(log) && log.request_id !== '' && (
        <Suspense fallback={<Skeleton className="h-30 w-full rounded-lg" />}>
          <Payload log={log} />
        </Suspense>
      )}
    </>
  )
}

function Failure({ log, admin }: { log: Log; admin: boolean }) {
  const t = useText()
  return (
    <Card title={t('log.inspect.error')}>
      <p className="text-sm break-words first-letter:uppercase">{log.content}</p>
      {log.code && (
        <p className="mt-1 text-sm text-muted">
          {t('log.peek.code')}: <code data-verbatim>{log.code}</code>
        </p>
      )}
      {admin && log.upstream_message && (
        <div className="mt-3 text-sm">
          <h3 className="text-muted">{t('log.inspect.upstream')}</h3>
          <p className="break-words" data-verbatim>
            {log.upstream_message}
          </p>
        </div>
      )}
    </Card>
  )
}

/** Generated tokens per second. For a stream, only the time after the first byte counts. */
function speedOf({ completion_tokens, elapsed_time, first_byte_time, is_stream }: Log): number | undefined {
  const ms = elapsed_time - (is_stream ? first_byte_time : 0)
  return completion_tokens > 0 && ms > 0 ? completion_tokens / (ms / 1000) : undefined
}

function Details({ log, admin }: { log: Log; admin: boolean }) {
  const t = useText()
  const speed = speedOf(log)
  const facts: [string, ReactNode][] = [
    [t('log.user'), log.username],
    [t('log.token'), log.token_name],
    [t('log.inspect.asked'), log.asked_model || log.model_name],
    [t('log.inspect.ran'), log.asked_model && log.model_name],
    [t('log.peek.endpoint'), log.endpoint && <code data-verbatim>{log.endpoint}</code>],
    [t('log.peek.status'), log.status > 0 && log.status],
    [t('log.channel'), admin && log.channel > 0 && <ChannelLink channel={log.channel} />],
    [t('log.duration'), log.elapsed_time > 0 && durationText(log.elapsed_time, t)],
    [t('log.firstByte'), log.first_byte_time > 0 && durationText(log.first_byte_time, t)],
    [t('log.inspect.speed'), speed && t('log.inspect.perSecond', { value: formatNumber(Math.round(speed * 10) / 10) })],
    [t('log.peek.stream'), log.type === logType.consume && t(log.is_stream ? 'log.peek.yes' : 'log.peek.no')],
  ]
  return (
    <Card title={t('log.inspect.details')}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5 text-sm">
        {facts
          .filter(([, value]) => value)
          .map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-muted">{name}</dt>
              <dd className="min-w-0 text-end break-words">{value}</dd>
            </div>
          ))}
      </dl>
    </Card>
  )
}
