import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Copy, SquareTerminal } from 'lucide-react'
import { Suspense, useCallback } from 'react'
import type { PricedModel } from '../../../contract/api/price.ts'
import type { RowAction } from '../../components/data-table/types.ts'
import { buttonClass } from '../../components/ui/button.tsx'
import { Loading } from '../../components/ui/loading.tsx'
import { Card, Page } from '../../components/ui/page.tsx'
import { EmptyState } from '../../components/ui/states.tsx'
import { copyText } from '../../lib/clipboard.ts'
import { askFirst, isAt } from '../../lib/first-look.ts'
import { lazy } from '../../lib/lazy.ts'
import { factsQuery, pricesQuery } from '../../lib/model-queries.ts'
import { isAdmin, type SessionUser, sessionUser, useSessionUser } from '../../lib/session.ts'
import { hasMoreCalls, serverStatus, useClassicServer, useServerStatus, useStatusState } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { parseQuery } from '../../lib/url-query.ts'
import { type SetSearch, useUrlState } from '../../lib/use-url-state.ts'
import { Catalogue } from './catalogue.tsx'
import { canTry } from './price-parts.tsx'
import { useCatalogue } from './rows.ts'
import { type ModelSearch, parseModelSearch } from './search.ts'

const ModelPeek = lazy(() => import('./details-drawer.tsx').then((it) => ({ default: it.ModelPeek })))

/** Users who are not administrators see only their own group, whatever the URL contains. */
const groupFor = (user: SessionUser | undefined, { group }: ModelSearch) => (isAdmin(user) ? group : undefined)

/** Whether the server has the catalogue. Servers that have it also report whether it is public. */
const hasFacts = ({ public_models }: { public_models?: boolean }) => public_models !== undefined

// These requests start before anything is drawn, if the browser remembers the user and the server's status from an
// earlier visit.
if (isAt('/model') && sessionUser() && hasMoreCalls(serverStatus())) {
  const group = groupFor(sessionUser(), parseModelSearch(parseQuery(location.search)))
  askFirst(pricesQuery(group))
  if (hasFacts(serverStatus())) askFirst(factsQuery(group))
}

const none: readonly PricedModel[] = []

/** `/model`: the models that the user's group can call, and their prices. */
export function ModelListPage() {
  const t = useText()
  const status = useServerStatus()
  const isUnknown = useStatusState() === 'loading' && !hasMoreCalls(status)
  const classic = useClassicServer()
  return (
    <Page title={t('model.title')} text={t('model.intro')} width="full">
      {isUnknown ? (
        <Loading what={t('model.title')} />
      ) : classic ? (
        <Card>
          <EmptyState title={t('model.classic')} />
        </Card>
      ) : (
        <ModelTable />
      )}
    </Page>
  )
}

function ModelTable() {
  const [search, setSearch] = useUrlState(parseModelSearch)
  const user = useSessionUser()
  const admin = isAdmin(user)
  const enabled = hasFacts(useServerStatus())
  const group = groupFor(user, search)
  const query = useQuery(pricesQuery(group))
  const all = useCatalogue(query.data?.models ?? none, { group, enabled, admin })
  const actions = useRowActions(setSearch)
  const { peek } = search
  return (
    <>
      <Catalogue
        all={all}
        search={search}
        setSearch={setSearch}
        query={query}
        admin={admin}
        figures={enabled}
        actions={actions}
        empty={<NoModels admin={admin} group={query.data?.group ?? ''} />}
      />
      <Suspense fallback={null}>
        {peek !== undefined && query.data && (
          <ModelPeek
            name={peek}
            // The list shows models without a price only to administrators. The drawer is also available to other
            // users, and explains why such a model cannot be called.
            row={all.find((row) => row.model === peek) ?? plainRow(query.data.models, peek)}
            list={query.data}
            onClose={() => setSearch({ peek: undefined })}
          />
        )}
      </Suspense>
    </>
  )
}

function plainRow(models: readonly PricedModel[], name: string) {
  const row = models.find(({ model }) => model === name)
  return row && { ...row, facts: undefined, figures: undefined }
}

/** Actions for a model. If a name cannot be copied, it is put into the search box. */
function useRowActions(setSearch: SetSearch<ModelSearch>) {
  const t = useText()
  const navigate = useNavigate()
  return useCallback(
    (row: PricedModel): RowAction[] => {
      const { model } = row
      const fallback = () => setSearch({ q: model, page: undefined }, { replace: true })
      const copy = () => void copyText(model, { done: t('done.copied'), fallback })
      const tryIt = () => void navigate({ to: '/playground', search: { model } })
      return [
        ...(canTry(row)
          ? [{ id: 'try', label: t('model.try'), icon: <SquareTerminal />, primary: true, run: tryIt }]
          : []),
        { id: 'copy', label: t('model.copy'), icon: <Copy />, primary: true, keys: 'c', run: copy },
      ]
    },
    [t, navigate, setSearch],
  )
}

function NoModels({ admin, group }: { admin: boolean; group: string }) {
  const t = useText()
  if (!admin) return <EmptyState title={t('model.empty')} text={t('model.empty.ask')} />
  return (
    <EmptyState title={t('model.empty')} text={t('model.empty.text', { group })}>
      <Link to="/channel" className={buttonClass()}>
        {t('model.empty.channels')}
      </Link>
    </EmptyState>
  )
}
