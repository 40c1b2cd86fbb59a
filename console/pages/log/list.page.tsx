import { Link, useNavigate } from '@tanstack/react-router'
import { Suspense, useMemo } from 'react'
import type { Log } from '../../../contract/api/log.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { peekSteps } from '../../components/data-table/peek-steps.ts'
import { type ListState, useList } from '../../components/data-table/use-list.ts'
import { SavedViews } from '../../components/saved-views.tsx'
import { Page } from '../../components/ui/page.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import { ChartSkeleton, EmptyState } from '../../components/ui/states.tsx'
import { Switch } from '../../components/ui/switch.tsx'
import { SwitchRow } from '../../components/ui/switch-row.tsx'
import { lazy } from '../../lib/lazy.ts'
import { rowIdOf } from '../../lib/log-row.ts'
import { setLogSummary, useLogSummary } from '../../lib/preferences.ts'
import { useScreen } from '../../lib/screen.ts'
import { isAdmin, useSessionUser } from '../../lib/session.ts'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { type SetSearch, useUrlState } from '../../lib/use-url-state.ts'
import { logColumns } from './columns.tsx'
import { LogFilters } from './filter-bar.tsx'
import { countOf, isOfCalls, noFilters, usageOf } from './filters.ts'
import { NewestOnly } from './newest-only.tsx'
import { allLogs, exportAddress, type LogFilter, ownLogs } from './queries.ts'
import { RequestBox } from './request-box.tsx'
import { type LogSearch, parseLogSearch } from './search.ts'
import { Statistics } from './statistics.tsx'
import { Tail } from './tail.tsx'
import { useFilter } from './use-filter.ts'

const RecordingNotice = lazy(() =>
  import('../../components/recording-notice.tsx').then((it) => ({ default: it.RecordingNotice })),
)
const Histogram = lazy(() => import('./histogram.tsx').then((it) => ({ default: it.Histogram })))
const LogPeek = lazy(() => import('./details-drawer.tsx').then((it) => ({ default: it.LogPeek })))
const RequestPeek = lazy(() => import('./details-drawer.tsx').then((it) => ({ default: it.RequestPeek })))

/**
 * Marks calls that were interrupted or that failed, because users look for them. Calls that the caller aborted are not
 * marked.
 */
const rowTone = (log: Log) => (log.outcome === 'interrupted' || log.outcome === 'failed' ? 'bad' : undefined)

const rowName = (log: Log) => `${log.model_name} ${rowIdOf(log)}`.trim()

/** `/log`: the calls and their costs; administrators see those of all users. */
export function LogListPage() {
  const t = useText()
  const admin = isAdmin(useSessionUser())
  const classic = useClassicServer()
  const [search, setSearch] = useUrlState(parseLogSearch)
  const everybody = admin && search.mine === undefined
  const filter = useFilter(search, everybody)
  const source = everybody ? allLogs : ownLogs
  const list = useList(source, search, setSearch, filter)
  // Looking up a request does not change the list.
  const listed = useMemo(() => ({ ...search, request: undefined }), [search])
  const columns = useMemo(() => logColumns(t, { everybody, classic }), [t, everybody, classic])
  const isWide = useScreen('sm')
  const summary = useLogSummary()
  // On a phone, the figures are below the rows.
  const figures = (
    <>
      <Statistics filter={filter} everybody={everybody} rows={list.matching} />
      <Suspense fallback={<ChartSkeleton className="mb-3 h-[134px] w-full max-sm:h-[142px]" />}>
        {!classic && (
          <Histogram
            filter={filter}
            everybody={everybody}
            onRange={(from, to) => setSearch({ from: String(from), to: String(to), page: undefined })}
          />
        )}
      </Suspense>
    </>
  )
  const whose = [
    { value: 'all', label: t('log.loadAll') },
    { value: 'mine', label: t('log.loadMine') },
  ] as const
  return (
    <Page
      title={t('log.title')}
      text={t('log.intro')}
      width="full"
      {...(admin && {
        actions: (
          <Segmented
            label={t('log.whose')}
            options={whose}
            value={everybody ? 'all' : 'mine'}
            onChange={(value) => setSearch({ mine: value === 'mine' ? '1' : undefined, page: undefined })}
          />
        ),
      })}
    >
      <Suspense fallback={null}>
        <RecordingNotice />
      </Suspense>
      <div className="pb-3">
        <LogFilters
          search={search}
          setSearch={setSearch}
          everybody={everybody}
          filter={filter}
          extra={<Finders search={search} setSearch={setSearch} />}
        />
      </div>
      {isWide && summary && figures}
      <DataTable
        // Rows of all users must not be shown as the user's own, not even while the new rows are being drawn.
        key={everybody ? 'all' : 'own'}
        name="logs"
        caption={t('log.title')}
        columns={columns}
        list={list}
        search={listed}
        setSearch={setSearch}
        rowId={rowIdOf}
        rowName={rowName}
        rowTone={rowTone}
        peeks
        filtered={countOf(search) > 0}
        onClearFilters={() => setSearch(noFilters)}
        filters={
          <>
            {isWide && <Finders search={search} setSearch={setSearch} />}
            <Tail filter={filter} everybody={everybody} />
            {isWide && (
              <SwitchRow label={t('log.summary')}>
                {(ids) => (
                  <Switch {...ids} checked={summary} onChange={(event) => setLogSummary(event.target.checked)} />
                )}
              </SwitchRow>
            )}
          </>
        }
        toolbar={<Links search={search} filter={filter} everybody={everybody} />}
        empty={<EmptyState title={t('log.empty')} text={t('log.empty.text')} />}
      />
      {list.cutTo !== undefined && <NewestOnly text={t('log.sortedNewest', { count: list.cutTo })} />}
      {list.searched !== undefined && <NewestOnly text={t('log.searchedNewest', { count: list.searched })} />}
      {!isWide && <div className="pt-4">{figures}</div>}
      <Drawers search={search} setSearch={setSearch} list={list} everybody={everybody} admin={admin} />
    </Page>
  )
}

interface FindersProps {
  search: LogSearch
  setSearch: SetSearch<LogSearch>
}

/** The box that finds a request by its id, and the list of saved searches. */
function Finders({ search, setSearch }: FindersProps) {
  const navigate = useNavigate()
  const classic = useClassicServer()
  const others = { mine: undefined, sort: undefined, peek: undefined, request: undefined }
  return (
    <>
      {!classic && (
        <RequestBox request={search.request} onFind={(id) => void navigate({ to: '/log/$id', params: { id } })} />
      )}
      <SavedViews
        page="log"
        search={{ ...search, page: undefined, peek: undefined, request: undefined }}
        onShow={(view) => setSearch({ ...noFilters, ...others, ...view })}
      />
    </>
  )
}

/** Links to the usage page and to the exported file, both for the listed rows. */
function Links({ search, filter, everybody }: { search: LogSearch; filter: LogFilter; everybody: boolean }) {
  const t = useText()
  const classic = useClassicServer()
  return (
    <>
      {isOfCalls(search) && (
        <Link to="/usage" search={usageOf(search, everybody)} className="px-2 text-sm text-link hover:underline">
          {t('log.usage')}
        </Link>
      )}
      {!classic && (
        <a
          href={exportAddress(filter, everybody)}
          download
          className="px-2 text-sm text-link hover:underline max-sm:hidden"
        >
          {t('log.export')}
        </a>
      )}
    </>
  )
}

interface DrawersProps {
  search: LogSearch
  setSearch: SetSearch<LogSearch>
  list: ListState<Log>
  everybody: boolean
  admin: boolean
}

/** Shows the row that the URL specifies, either by its id in the list or by its request id. */
function Drawers({ search: { peek, request }, setSearch, list, everybody, admin }: DrawersProps) {
  const showLike = (change: Partial<LogSearch>) =>
    setSearch({ ...noFilters, peek: undefined, request: undefined, ...change })
  return (
    <Suspense fallback={null}>
      {request !== undefined && (
        <RequestPeek
          request={request}
          // A lookup by request id covers the rows of all users, even if the list shows only the user's own.
          everybody={admin}
          onClose={() => setSearch({ request: undefined })}
          onSearch={showLike}
        />
      )}
      {peek !== undefined && (
        <LogPeek
          id={peek}
          log={list.rows.find((log) => rowIdOf(log) === peek)}
          listed={!list.loading}
          steps={peekSteps({ list, rowId: rowIdOf, peek, setSearch })}
          everybody={everybody}
          onClose={() => setSearch({ peek: undefined })}
          onSearch={showLike}
        />
      )}
    </Suspense>
  )
}
