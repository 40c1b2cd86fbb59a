import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { docsApi } from '../../../contract/api/docs.ts'
import { buttonClass } from '../../components/ui/button.tsx'
import { Loading } from '../../components/ui/loading.tsx'
import { Card, Page } from '../../components/ui/page.tsx'
import { EmptyState, ErrorState, RowsSkeleton } from '../../components/ui/states.tsx'
import { basePath } from '../../lib/base-path.ts'
import { canSeeReference } from '../../lib/reference-access.ts'
import { useSessionUser } from '../../lib/session.ts'
import { useServerStatus, useStatusState } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { documentQuery } from './queries.ts'
import { ReferenceView } from './reference-view.tsx'

/** `/reference`: the API of this server, for users and, if the option is on, for visitors. */
export function ReferencePage() {
  const t = useText()
  const user = useSessionUser()
  const status = useServerStatus()
  const isShown = canSeeReference(user, status)
  const state = useStatusState()
  const isUnknown = !isShown && state === 'loading'
  return (
    <Page
      title={t('reference.title')}
      text={t('reference.intro')}
      width="full"
      actions={
        isShown && (
          <a href={`${basePath}${docsApi.document.path}`} className={buttonClass({ size: 'small' })}>
            {t('reference.download')}
          </a>
        )
      }
    >
      {isUnknown ? <Loading what={t('reference.title')} /> : isShown ? <Loaded /> : <Hidden />}
    </Page>
  )
}

function Loaded() {
  const t = useText()
  const { data, error, isError, isFetching, refetch } = useQuery(documentQuery)
  if (data) return <ReferenceView document={data} />
  if (!isError) return <RowsSkeleton className="h-[36rem]" />
  return (
    <ErrorState title={t('reference.failed')} text={error.message} onRetry={() => void refetch()} busy={isFetching} />
  )
}

/** The page for visitors who must log in first, and for a server without an API reference. */
function Hidden() {
  const t = useText()
  const user = useSessionUser()
  const { public_api_reference } = useServerStatus()
  if (user || public_api_reference === undefined)
    return (
      <Card>
        <EmptyState title={t('reference.none')} />
      </Card>
    )
  return (
    <Card>
      <EmptyState title={t('reference.private')} text={t('reference.private.text')}>
        <Link to="/login" state={{ from: '/reference' } as never} className={buttonClass({ look: 'primary' })}>
          {t('menu.login')}
        </Link>
      </EmptyState>
    </Card>
  )
}
