import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { buttonClass } from '../../components/ui/button.tsx'
import { Page } from '../../components/ui/page.tsx'
import { EmptyState, ErrorState, FieldsSkeleton } from '../../components/ui/states.tsx'
import { useText } from '../../lib/text.ts'
import { ownTokensQuery } from './queries.ts'
import { Workbench } from './workbench.tsx'

/** `/playground`: chat with models through the gateway, with one of the user's tokens. */
export function PlaygroundPage() {
  const t = useText()
  const tokens = useQuery(ownTokensQuery)
  const newest = tokens.data?.[0]
  return (
    <Page title={t('playground.title')} text={t('playground.note')}>
      {tokens.isPending && <FieldsSkeleton className="h-[28rem]" />}
      {tokens.isError && !tokens.data && (
        <ErrorState
          title={t('playground.tokens.failed')}
          text={tokens.error.message}
          onRetry={() => void tokens.refetch()}
          busy={tokens.isFetching}
        />
      )}
      {tokens.data?.length === 0 && (
        <EmptyState title={t('playground.tokens.none')} text={t('playground.tokens.none.text')}>
          <Link to="/token/add" className={buttonClass({ look: 'primary' })}>
            {t('playground.tokens.add')}
          </Link>
        </EmptyState>
      )}
      {tokens.data && newest && <Workbench tokens={tokens.data} newest={newest} />}
    </Page>
  )
}
