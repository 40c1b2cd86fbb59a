import { Link } from '@tanstack/react-router'
import { buttonClass } from '../../components/ui/button.tsx'
import { Card, Page } from '../../components/ui/page.tsx'
import { EmptyState, Skeleton } from '../../components/ui/states.tsx'
import { isAdmin, useSessionUser } from '../../lib/session.ts'
import { useServerStatus, useStatusState } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'

/** `/chat`: the configured chat app in a frame. */
export function ChatPage() {
  const t = useText()
  const { chat_link } = useServerStatus()
  const state = useStatusState()
  return (
    <Page
      title={t('chat.title')}
      width="full"
      actions={
        chat_link && (
          <a href={chat_link} target="_blank" rel="noopener noreferrer" className={buttonClass()}>
            {t('chat.newWindow')}
          </a>
        )
      }
    >
      {chat_link ? (
        <iframe
          src={chat_link}
          title={t('chat.frame')}
          sandbox="allow-scripts allow-same-origin allow-forms allow-popups allow-downloads"
          allow="clipboard-read; clipboard-write"
          className="h-[85dvh] w-full rounded-lg border border-line bg-surface"
        />
      ) : state === 'loading' ? (
        <Skeleton className="h-[85dvh] w-full" />
      ) : (
        <NoLink />
      )}
    </Page>
  )
}

function NoLink() {
  const t = useText()
  const user = useSessionUser()
  const admin = isAdmin(user)
  return (
    <Card>
      <EmptyState title={t('chat.none')} text={t(admin ? 'chat.none.admin' : 'chat.none.text')}>
        {admin && (
          <Link to="/setting" search={{ tab: 'operation' }} className={buttonClass()}>
            {t('chat.settings')}
          </Link>
        )}
        <Link to="/playground" className={buttonClass({ look: 'primary' })}>
          {t('chat.playground')}
        </Link>
      </EmptyState>
    </Card>
  )
}
