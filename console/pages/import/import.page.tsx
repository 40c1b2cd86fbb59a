import { useQuery } from '@tanstack/react-query'
import { Button } from '../../components/ui/button.tsx'
import { Card, Page } from '../../components/ui/page.tsx'
import { EmptyState, ErrorState, RowsSkeleton } from '../../components/ui/states.tsx'
import { isRoot, useSessionUser } from '../../lib/session.ts'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { importsQuery, isActive } from './queries.ts'
import { RunEnd } from './run-end.tsx'
import { RunProgress } from './run-progress.tsx'
import { parseImportSearch } from './search.ts'
import { SourceForm } from './source-form.tsx'

/** `/import`: imports the data of another gateway. Only for the super admin. */
export function ImportPage() {
  const t = useText()
  const classic = useClassicServer()
  const root = isRoot(useSessionUser())
  return (
    <Page title={t('import.title')} text={t('import.intro')} width="narrow">
      {classic || !root ? (
        <Card>
          <EmptyState title={t(classic ? 'import.classic' : 'import.rootOnly')} />
        </Card>
      ) : (
        <Newest />
      )}
    </Page>
  )
}

/** The newest import, or the form for a source. */
function Newest() {
  const t = useText()
  const [search, setSearch] = useUrlState(parseImportSearch)
  const { data, error, refetch, isFetching } = useQuery(importsQuery)
  if (error && !data)
    return (
      <ErrorState
        title={t('import.error.list')}
        text={error.message}
        onRetry={() => void refetch()}
        busy={isFetching}
      />
    )
  if (!data) return <RowsSkeleton className="h-72" />
  const [newest] = data
  if (newest && isActive(newest)) return <RunProgress run={newest} />
  if (!newest || search.new !== undefined)
    return <SourceForm onStarted={() => setSearch({ new: undefined }, { replace: true })} />
  return (
    <>
      <div className="mb-4 flex flex-wrap justify-end gap-2">
        <Button onClick={() => setSearch({ new: '1' })}>{t('import.another')}</Button>
      </div>
      <RunEnd key={newest.id} run={newest} />
    </>
  )
}
