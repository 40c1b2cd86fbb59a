import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Button, buttonClass } from '../../components/ui/button.tsx'
import { CopyField } from '../../components/ui/copy-field.tsx'
import { Dialog } from '../../components/ui/dialog.tsx'
import { ErrorState, Skeleton } from '../../components/ui/states.tsx'
import { canSeeReference } from '../../lib/reference-access.ts'
import { useSessionUser } from '../../lib/session.ts'
import { useServerStatus } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { keyOf } from '../../lib/token-key.ts'
import { AppSetups } from './app-setups.tsx'
import { tokenQuery } from './queries.ts'
import { SnippetTabs } from './snippet-tabs.tsx'

/** Shown right after a token is created: its key, example calls to copy and apps to open. */
export function TokenStart({ id, onClose }: { id: string; onClose(): void }) {
  const t = useText()
  const user = useSessionUser()
  const status = useServerStatus()
  const query = useQuery(tokenQuery(id))
  const token = query.data
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('token.start.title')}
      text={t('token.start.text')}
      width="large"
      footer={
        <>
          {canSeeReference(user, status) && (
            <Link to="/reference" className={buttonClass({ look: 'quiet' })}>
              {t('token.start.reference')}
            </Link>
          )}
          {token && (
            <Link to="/playground" search={{ token: token.id }} className={buttonClass()}>
              {t('token.start.try')}
            </Link>
          )}
          <Button look="primary" onClick={onClose}>
            {t('token.start.done')}
          </Button>
        </>
      }
    >
      {query.isPending && <Skeleton className="h-52 w-full" />}
      {query.isError && (
        <ErrorState title={t('token.notFound')} text={query.error.message} onRetry={() => void query.refetch()} />
      )}
      {token && (
        <div className="flex flex-col gap-4">
          <CopyField label={t('token.key')} value={keyOf(token)} />
          <SnippetTabs token={token} />
          <AppSetups token={token} />
        </div>
      )}
    </Dialog>
  )
}
