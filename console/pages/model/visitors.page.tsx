import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Copy } from 'lucide-react'
import { Suspense, useCallback, useMemo } from 'react'
import type { RowAction } from '../../components/data-table/types.ts'
import { buttonClass } from '../../components/ui/button.tsx'
import { Loading } from '../../components/ui/loading.tsx'
import { Page } from '../../components/ui/page.tsx'
import { EmptyState, ErrorState } from '../../components/ui/states.tsx'
import { CallError } from '../../lib/call.ts'
import { copyText } from '../../lib/clipboard.ts'
import { lazy } from '../../lib/lazy.ts'
import { useSessionUser } from '../../lib/session.ts'
import { useServerStatus, useStatusState } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { Catalogue } from './catalogue.tsx'
import { visitorsQuery } from './queries.ts'
import { type CatalogueRow, catalogueRows } from './rows.ts'
import { parseModelSearch } from './search.ts'

const ModelPeek = lazy(() => import('./details-drawer.tsx').then((it) => ({ default: it.ModelPeek })))

/** `/pricing`: the models and prices of the default group, for visitors, if the administrators publish them. */
export function VisitorsModelPage() {
  const t = useText()
  const user = useSessionUser()
  return (
    <Page
      title={t('model.title')}
      text={t('model.intro')}
      width="full"
      actions={
        user === undefined && (
          <Link to="/login" className={buttonClass({ look: 'primary' })}>
            {t('model.visitors.login')}
          </Link>
        )
      }
    >
      <VisitorsTable />
    </Page>
  )
}

function VisitorsTable() {
  const t = useText()
  const { public_models } = useServerStatus()
  const isOff = useStatusState() === 'fresh' && !public_models
  const [search, setSearch] = useUrlState(parseModelSearch)
  const query = useQuery({ ...visitorsQuery, enabled: !isOff })
  const { data, error, isPending, refetch } = query
  const all = useMemo(() => (data ? catalogueRows(data.models, data.facts, [], false) : []), [data])
  const actions = useCallback(
    ({ model }: CatalogueRow): RowAction[] => {
      const fallback = () => setSearch({ q: model, page: undefined }, { replace: true })
      const copy = () => void copyText(model, { done: t('done.copied'), fallback })
      return [{ id: 'copy', label: t('model.copy'), icon: <Copy />, primary: true, keys: 'c', run: copy }]
    },
    [t, setSearch],
  )
  if (isOff || (error instanceof CallError && error.status === 404))
    return <EmptyState title={t('model.visitors.off')} text={t('model.visitors.off.text')} />
  if (isPending) return <Loading what={t('model.title')} />
  if (error && !data)
    return <ErrorState title={t('model.failed')} text={error.message} onRetry={() => void refetch()} />
  const { peek } = search
  return (
    <>
      <Catalogue
        all={all}
        search={search}
        setSearch={setSearch}
        query={query}
        admin={false}
        figures={false}
        actions={actions}
        empty={<EmptyState title={t('model.empty')} />}
      />
      <Suspense fallback={null}>
        {peek !== undefined && (
          <ModelPeek
            name={peek}
            row={all.find((row) => row.model === peek)}
            list={{ group: 'default', ratio: 1 }}
            onClose={() => setSearch({ peek: undefined })}
          />
        )}
      </Suspense>
    </>
  )
}
