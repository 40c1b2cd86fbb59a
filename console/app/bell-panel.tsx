import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { logApi } from '../../contract/api/log.ts'
import type { AttentionItem } from '../../contract/api/overview.ts'
import { logType } from '../../contract/log-types.ts'
import { currencyText } from '../../contract/quota.ts'
import { tokenStatus } from '../../contract/statuses.ts'
import { SafeHtml } from '../components/safe-html.tsx'
import { dotMark } from '../components/ui/badge.tsx'
import { Button } from '../components/ui/button.tsx'
import { Loading } from '../components/ui/loading.tsx'
import { call } from '../lib/call.ts'
import { formatCount, formatPercent, formatRelative, formatSum, formatTime } from '../lib/format.ts'
import { noticeQuery } from '../lib/notice.ts'
import { useObservable } from '../lib/observable.ts'
import { isAdmin, useSessionUser } from '../lib/session.ts'
import { useClassicServer } from '../lib/status.ts'
import { type Text, useText } from '../lib/text.ts'
import { type BellEntry, bellEntries, markRead, readIds } from './bell-entries.ts'

const mostEntries = 20
const mostEvents = 6

/** The gateway's automatic actions: the newest log rows about channels. */
const eventsQuery = {
  queryKey: ['log', 'events'],
  queryFn: async ({ signal }: { signal: AbortSignal }) => {
    const query = { p: 0, size: mostEvents * 3, type: logType.system }
    const rows = await call(logApi.list, { query }, { signal, quiet: true })
    return rows.filter(({ channel }) => channel > 0).slice(0, mostEvents)
  },
  staleTime: 5000,
}

/** The panel of the bell: the installation's notice, what needs attention, and the gateway's automatic actions. */
export function BellPanel() {
  const t = useText()
  const admin = isAdmin(useSessionUser())
  const classic = useClassicServer()
  const notice = useQuery(noticeQuery)
  const entries = useObservable(bellEntries)
  const read = useObservable(readIds)
  const events = useQuery({ ...eventsQuery, enabled: admin && !classic })
  const shown = entries.slice(0, mostEntries)
  const unread = entries.filter(({ id }) => !read.includes(id)).map(({ id }) => id)
  const isEmpty = notice.data === '' && entries.length === 0 && !events.data?.length
  return (
    <div className="flex max-h-[min(32rem,70dvh)] w-[min(22rem,calc(100vw-3rem))] flex-col gap-4 overflow-y-auto">
      {notice.isPending && <Loading what={t('app.notices')} />}
      {notice.isError && <p role="alert">{notice.error.message}</p>}
      {isEmpty && <p className="py-4 text-center text-muted">{t('bell.none')}</p>}
      {unread.length > 0 && (
        <Button size="small" className="self-start" onClick={() => markRead(unread)}>
          {t('bell.markRead')}
        </Button>
      )}
      {shown.length > 0 && (
        <Part title={t(admin ? 'bell.attention' : 'bell.account')}>
          {shown.map((entry) => (
            <Entry key={entry.id} entry={entry} isRead={read.includes(entry.id)} />
          ))}
        </Part>
      )}
      {events.data && events.data.length > 0 && (
        <Part title={t('bell.events')}>
          {events.data.map(({ id, channel, content, created_at }) => (
            <Row
              key={id}
              to={{ to: '/channel', search: { peek: String(channel) } }}
              text={content}
              since={created_at}
            />
          ))}
        </Part>
      )}
      {events.data && events.data.length > 0 && (
        <Link to="/log" search={{ type: String(logType.system) }} className="text-link hover:underline">
          {t('bell.allEvents')}
        </Link>
      )}
      {notice.data && (
        <section aria-label={t('bell.notice')} className="border-t border-line pt-3">
          <h3 className="mb-1 text-xs font-medium text-muted">{t('bell.notice')}</h3>
          <SafeHtml source={notice.data} />
        </section>
      )}
    </div>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h3 className="mb-1 text-xs font-medium text-muted">{title}</h3>
      <ul className="-mx-2">{children}</ul>
    </section>
  )
}

function Entry({ entry, isRead }: { entry: BellEntry; isRead: boolean }) {
  const t = useText()
  const { id, color, what, since, to } = entry
  const name = what.kind === 'item' ? what.item.target.name || undefined : what.kind === 'token' ? what.name : undefined
  return (
    <Row
      to={to}
      {...(name !== undefined && { name })}
      text={sentence(what, t)}
      since={since}
      mark={
        <>
          <span
            className={`mt-1.5 size-2 shrink-0 rounded-full ${dotMark[color]} ${isRead ? 'opacity-40' : ''}`}
            aria-hidden="true"
          />
          {!isRead && <span className="sr-only">{t('bell.unread')}</span>}
        </>
      }
      onOpen={() => markRead([id])}
    />
  )
}

interface RowProps {
  to: BellEntry['to']
  name?: string
  text: string
  since: number | undefined
  mark?: ReactNode
  onOpen?: () => void
}

function Row({ to, name, text, since, mark, onOpen }: RowProps) {
  return (
    <li>
      <Link
        to={to.to}
        search={(to.search ?? {}) as never}
        onClick={onOpen}
        className="flex gap-2.5 rounded-md px-2 py-1.5 hover:bg-active"
      >
        {mark}
        <span className="min-w-0 flex-1">
          {name !== undefined && (
            <span className="block truncate font-medium" data-verbatim>
              {name}
            </span>
          )}
          <span className="line-clamp-2 break-words text-muted">{text}</span>
          {since !== undefined && (
            <time className="text-xs text-muted" title={formatTime(since)}>
              {formatRelative(since)}
            </time>
          )}
        </span>
      </Link>
    </li>
  )
}

function sentence(what: BellEntry['what'], t: Text): string {
  switch (what.kind) {
    case 'no_balance':
      return t('bell.noBalance')
    case 'low_balance':
      return t('bell.lowBalance', { days: Math.max(1, Math.round(what.days)) })
    case 'token':
      return t(what.status === tokenStatus.expired ? 'bell.expired' : 'bell.exhausted')
    default:
      return aboutItem(what.item, t)
  }
}

function aboutItem({ kind, reason, count, failed, amount, limit }: AttentionItem, t: Text): string {
  const asMoney = kind === 'balance_low' ? (sum: number) => currencyText('$', sum) : formatSum
  const values = {
    reason,
    count,
    failed: formatCount(failed),
    share: formatPercent(failed / Math.max(1, count), 0),
    amount: asMoney(amount),
    limit: asMoney(limit),
  }
  return t(`bell.item.${kind}`, values)
}
