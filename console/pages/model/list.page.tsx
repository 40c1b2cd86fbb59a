import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Copy, SquareTerminal } from 'lucide-react'
import { lazy, Suspense, useCallback, useMemo } from 'react'
import type { PricedModel } from '../../../contract/api/price.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { FilterBar } from '../../components/data-table/filter-bar.tsx'
import type { RowAction } from '../../components/data-table/types.ts'
import { wholeList } from '../../components/data-table/whole-list.ts'
import { buttonClass } from '../../components/ui/button.tsx'
import { Card, Page } from '../../components/ui/page.tsx'
import { EmptyState, Loading } from '../../components/ui/states.tsx'
import { copyText } from '../../lib/clipboard.ts'
import { askFirst, isAt } from '../../lib/first-look.ts'
import { groupsQuery } from '../../lib/groups.ts'
import { isAdmin, type SessionUser, sessionUser, useSessionUser } from '../../lib/session.ts'
import { hasMoreCalls, serverStatus, useClassicServer, useServerStatus, useStatusState } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { parseQuery } from '../../lib/url-state.ts'
import { type SetSearch, useUrlState } from '../../lib/use-url-state.ts'
import { modelColumns } from './columns.tsx'
import { canTry, kindOf, kinds, kindText } from './price-parts.tsx'
import { pricesQuery } from './queries.ts'
import { type ModelSearch, parseModelSearch } from './search.ts'

const ModelPeek = lazy(() => import('./details-drawer.tsx').then((it) => ({ default: it.ModelPeek })))

/** Users who are not administrators see only their own group, whatever the URL contains. */
const groupFor = (user: SessionUser | undefined, { group }: ModelSearch) => (isAdmin(user) ? group : undefined)

// This request starts before anything is drawn, if the user has visited before.
if (isAt('/model') && sessionUser() && hasMoreCalls(serverStatus()))
  askFirst(pricesQuery(groupFor(sessionUser(), parseModelSearch(parseQuery(location.search)))))

const rowId = ({ model }: PricedModel) => model
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
  const t = useText()
  const [search, setSearch] = useUrlState(parseModelSearch)
  const user = useSessionUser()
  const admin = isAdmin(user)
  const query = useQuery(pricesQuery(groupFor(user, search)))
  const all = query.data?.models ?? none
  const { q = '', kind } = search
  const rows = useMemo(
    () =>
      all.filter(
        (row) => row.model.toLowerCase().includes(q.toLowerCase()) && (kind === undefined || kindOf(row) === kind),
      ),
    [all, q, kind],
  )
  const columns = useMemo(() => modelColumns(t), [t])
  const list = wholeList({ rows, search, filters: `${kind ?? ''} ${search.group ?? ''}`, query })
  const actions = useRowActions(setSearch)
  const peeked = search.peek
  return (
    <>
      <DataTable
        name="models"
        caption={t('model.title')}
        columns={columns}
        list={list}
        search={search}
        setSearch={setSearch}
        rowId={rowId}
        rowName={rowId}
        actions={actions}
        peeks
        searchLabel={t('model.search')}
        filters={<Filters search={search} setSearch={setSearch} all={all} admin={admin} />}
        filtered={kind !== undefined}
        onClearFilters={() => setSearch({ q: undefined, kind: undefined, page: undefined })}
        empty={<NoModels admin={admin} group={query.data?.group ?? ''} />}
      />
      <Suspense fallback={null}>
        {peeked !== undefined && query.data && (
          <ModelPeek
            name={peeked}
            row={all.find((row) => row.model === peeked)}
            list={query.data}
            onClose={() => setSearch({ peek: undefined })}
          />
        )}
      </Suspense>
    </>
  )
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

interface FiltersProps {
  search: ModelSearch
  setSearch: SetSearch<ModelSearch>
  all: readonly PricedModel[]
  admin: boolean
}

/** Filters by kind of model and, for administrators, by group. */
function Filters({ search, setSearch, all, admin }: FiltersProps) {
  const t = useText()
  const { kind, group } = search
  const there = useMemo(() => new Set(all.map(kindOf)), [all])
  const groups = useQuery({ ...groupsQuery, enabled: admin }).data ?? []
  const active = (kind === undefined ? 0 : 1) + (admin && group !== undefined ? 1 : 0)
  return (
    <FilterBar
      active={active}
      onClear={() => setSearch({ kind: undefined, group: undefined, page: undefined })}
      selects={[
        {
          label: t('model.kind'),
          all: t('model.kind.all'),
          value: kind,
          choices: kinds.filter((each) => there.has(each)).map((value) => ({ value, label: kindText(value, t) })),
          onChange: (value) => setSearch({ kind: value, page: undefined }),
        },
        ...(admin
          ? [
              {
                label: t('model.group'),
                all: t('model.group.own'),
                value: group,
                choices: groups.map((name) => ({ value: name, label: name })),
                onChange: (value: string | undefined) => setSearch({ group: value, page: undefined }),
              },
            ]
          : []),
      ]}
    />
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
