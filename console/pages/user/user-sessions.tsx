import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { User } from '../../../contract/api/user.ts'
import type { UserSession } from '../../../contract/api/user-access.ts'
import { Badge } from '../../components/ui/badge.tsx'
import { Button } from '../../components/ui/button.tsx'
import { ErrorState, RowsSkeleton } from '../../components/ui/states.tsx'
import { useConfirm } from '../../components/ui/use-confirm.tsx'
import { clientWords } from '../../lib/client-words.ts'
import { formatRelative, formatTime } from '../../lib/format.ts'
import { sessionUser } from '../../lib/session.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { endUserSession, endUserSessions, userSessionsQuery } from './access-queries.ts'
import { Pager } from './pager.tsx'

/** Where a user is logged in to the console; each session can be ended, or all at once. */
export function UserSessions({ user }: { user: User }) {
  const t = useText()
  const [page, setPage] = useState(0)
  const [ask, question] = useConfirm()
  const { data: shown, error, isPending, isPlaceholderData, refetch } = useQuery(userSessionsQuery(user.id, page))
  if (isPending) return <RowsSkeleton className="h-64 border-0!" />
  if (error) {
    return <ErrorState title={t('user.peek.sessionsError')} text={error.message} onRetry={() => void refetch()} />
  }
  const endAll = () =>
    ask({
      title: t('user.peek.endAll.title', { name: user.username }),
      text: t(user.id === sessionUser()?.id ? 'user.peek.endAll.own' : 'user.peek.endAll.text'),
      confirm: t('user.peek.endAll'),
      danger: true,
      onConfirm: async () => {
        const count = await endUserSessions(user)
        setPage(0)
        toast.success(t('user.peek.endedAll', { count }))
      },
    })
  return (
    <>
      {question}
      {shown.total === 0 ? (
        <p className="text-sm text-muted">{t('user.peek.noSessions')}</p>
      ) : (
        <>
          <ul
            aria-label={t('user.peek.tab.sessions')}
            className={`divide-y divide-line text-sm ${isPlaceholderData ? 'opacity-60' : ''}`}
          >
            {shown.data.map((session) => (
              <SessionLine key={session.id} user={user} session={session} />
            ))}
          </ul>
          <Pager page={page} rows={shown.data.length} total={shown.total} onPage={setPage} />
          {shown.data.some(({ current }) => !current) && (
            <div>
              <Button size="small" className="text-bad!" onClick={endAll}>
                {t('user.peek.endAll')}
              </Button>
            </div>
          )}
        </>
      )}
    </>
  )
}

function SessionLine({ user, session }: { user: User; session: UserSession }) {
  const t = useText()
  const [busy, setBusy] = useState(false)
  const client = clientWords(session.client)
  const end = async () => {
    setBusy(true)
    try {
      await endUserSession(user, session.id)
      toast.success(t('user.peek.ended'))
    } catch {
      // The call has already shown the error.
    }
    setBusy(false)
  }
  return (
    <li className="flex items-center gap-3 py-2.5">
      <div className="min-w-0 flex-1">
        <p className="flex items-center gap-2">
          <span className="truncate font-medium" title={session.client} data-verbatim>
            {client}
          </span>
          {session.current && <Badge color="green">{t('user.peek.current')}</Badge>}
        </p>
        <p className="num flex flex-wrap gap-x-3 text-muted">
          {session.address !== '' && <span className="break-all">{session.address}</span>}
          <time title={formatTime(session.last_seen_time)}>
            {t('user.peek.seen', { time: formatRelative(session.last_seen_time) })}
          </time>
          <time title={formatRelative(session.created_time)}>
            {t('user.peek.since', { time: formatTime(session.created_time) })}
          </time>
        </p>
      </div>
      {!session.current && (
        <Button
          size="small"
          busy={busy}
          onClick={() => void end()}
          aria-label={t('user.peek.endOf', { client: `${client}, ${formatTime(session.created_time)}` })}
        >
          {t('user.peek.end')}
        </Button>
      )}
    </li>
  )
}
