import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ClipboardList, Ellipsis, RefreshCw, Trash2 } from 'lucide-react'
import { Suspense, useCallback, useMemo, useState } from 'react'
import type { Channel } from '../../../contract/api/channel.ts'
import { roles } from '../../../contract/roles.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { deleteQuestion } from '../../components/data-table/delete-question.ts'
import { useList } from '../../components/data-table/use-list.ts'
import { Button } from '../../components/ui/button.tsx'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { Loading } from '../../components/ui/loading.tsx'
import { Menu } from '../../components/ui/menu.tsx'
import { Page } from '../../components/ui/page.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import { useConfirm } from '../../components/ui/use-confirm.tsx'
import { firstLook } from '../../lib/first-look.ts'
import { useHotkeys } from '../../lib/hotkeys.ts'
import { lazy } from '../../lib/lazy.ts'
import { queryClient } from '../../lib/query-client.ts'
import { useClassicServer } from '../../lib/status.ts'
import { text, useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { useListState } from '../../lib/way-back.ts'
import { channelActions, channelBulk, deleteChannel } from './actions.tsx'
import { nameOf, useTypeName } from './channel-parts.tsx'
import { channelColumns } from './columns.tsx'
import { ChannelFilters, filterCount, filterOf, noFilters } from './filters.tsx'
import { AddLink, NoChannels } from './no-channels.tsx'
import {
  channelQuery,
  channels,
  progressQuery,
  removeDisabledChannels,
  typesQuery,
  updateAllBalances,
} from './queries.ts'
import { parseChannelSearch } from './search.ts'
import { TestAllButton } from './test-all.tsx'

const ChannelPeek = lazy(() => import('./details-drawer.tsx').then((it) => ({ default: it.ChannelPeek })))
const HealthBoard = lazy(() => import('./board.tsx').then((it) => ({ default: it.HealthBoard })))
const ModelsMap = lazy(() => import('./models-map.tsx').then((it) => ({ default: it.ModelsMap })))
const TestReport = lazy(() => import('./test-report.tsx').then((it) => ({ default: it.TestReport })))
const BulkEditDialog = lazy(() => import('./bulk-edit.tsx').then((it) => ({ default: it.BulkEditDialog })))

/** Fetches the channel in advance, because the user may be about to open its drawer. */
const near = (channel: Channel) =>
  void queryClient.prefetchQuery({ ...channelQuery(String(channel.id)), staleTime: nearStaleMs })
const nearStaleMs = 10_000
const rowId = (channel: Channel) => String(channel.id)

firstLook({
  path: '/channel',
  role: roles.admin,
  source: channels,
  parse: parseChannelSearch,
  filters: filterOf,
  shown: ({ view }) => view === undefined,
})

/** `/channel`: the upstream services, as a list, as a health board or grouped by model. */
export function ChannelListPage() {
  const t = useText()
  const navigate = useNavigate()
  const [search, setSearch] = useListState('/channel', parseChannelSearch)
  const edit = useCallback(
    (channel: Channel) => void navigate({ to: '/channel/edit/$id', params: { id: rowId(channel) } }),
    [navigate],
  )
  useHotkeys({ n: () => void navigate({ to: '/channel/add' }) })
  const views = [
    { value: 'list', label: t('channel.view.list') },
    { value: 'board', label: t('channel.view.board') },
    { value: 'models', label: t('channel.view.models') },
  ] as const
  return (
    <Page
      title={t('channel.title')}
      text={t('channel.intro')}
      width="full"
      actions={<PageActions onReport={(since) => setSearch({ report: String(since) })} />}
    >
      <div className="pb-3">
        <Segmented
          label={t('channel.view')}
          options={views}
          value={search.view ?? 'list'}
          onChange={(view) => setSearch({ view: view === 'list' ? undefined : view })}
        />
      </div>
      <Suspense fallback={<Loading what={t('channel.title')} />}>
        {search.view === undefined && <ChannelTable edit={edit} />}
        {search.view === 'board' && (
          <HealthBoard search={search} setSearch={setSearch} onPeek={(id) => setSearch({ peek: String(id) })} />
        )}
        {search.view === 'models' && (
          <ModelsMap search={search} onNarrow={(change) => setSearch(change, { replace: true })} />
        )}
      </Suspense>
      <Suspense fallback={null}>
        {search.peek !== undefined && (
          <ChannelPeek id={search.peek} onClose={() => setSearch({ peek: undefined })} onEdit={edit} />
        )}
        {search.report !== undefined && search.peek === undefined && (
          <TestReport
            since={Number(search.report)}
            onClose={() => setSearch({ report: undefined })}
            onPeek={(id) => setSearch({ peek: String(id) })}
          />
        )}
      </Suspense>
    </Page>
  )
}

function ChannelTable({ edit }: { edit(channel: Channel): void }) {
  const t = useText()
  const [search, setSearch] = useUrlState(parseChannelSearch)
  // A server that has only one-api's endpoints ignores filters.
  const classic = useClassicServer()
  const channelList = useList(channels, search, setSearch, classic ? {} : filterOf(search))
  // The list is shown only when the names of the channel types have loaded, because the columns would otherwise move.
  const { isPending } = useQuery(typesQuery)
  const list = isPending ? { ...channelList, loading: true } : channelList
  const typeName = useTypeName()
  const [ask, question] = useConfirm()
  const [editing, setEditing] = useState<readonly Channel[]>()
  const columns = useMemo(() => channelColumns(t, typeName), [t, typeName])
  const rowName = useCallback((channel: Channel) => nameOf(channel, t), [t])
  const actions = useCallback(
    (channel: Channel) => {
      const remove = () =>
        ask(
          deleteQuestion(t, {
            name: nameOf(channel, t),
            text: t('channel.delete.text'),
            remove: () => deleteChannel(channel),
          }),
        )
      return channelActions(channel, t, { edit, remove })
    },
    [t, ask, edit],
  )
  return (
    <>
      <DataTable
        name="channels"
        caption={t('channel.title')}
        columns={columns}
        list={list}
        search={search}
        setSearch={setSearch}
        rowId={rowId}
        rowName={rowName}
        actions={actions}
        bulk={channelBulk(t, setEditing)}
        peeks
        nearRow={near}
        searchLabel={t('channel.search')}
        filters={!classic && <ChannelFilters search={search} setSearch={setSearch} ready={!list.loading} />}
        filtered={!classic && filterCount(search) > 0}
        onClearFilters={() => setSearch({ ...noFilters, q: undefined, page: undefined })}
        empty={<NoChannels />}
      />
      {question}
      <Suspense fallback={null}>
        {editing && <BulkEditDialog channels={editing} onClose={() => setEditing(undefined)} />}
      </Suspense>
    </>
  )
}

/**
 * Actions for all channels, and the link to add one. `onReport` shows the results of tests that began at a given time.
 */
function PageActions({ onReport }: { onReport(since: number): void }) {
  const t = useText()
  const classic = useClassicServer()
  const [ask, question] = useConfirm()
  const [busy, setBusy] = useState(false)
  const balances = async () => {
    setBusy(true)
    try {
      await updateAllBalances()
      toast.info(t('channel.balances.done'))
    } catch {
      // The call has already shown the error.
    }
    setBusy(false)
  }
  const removeDisabled = () =>
    ask({
      title: t('channel.removeDisabled.title'),
      text: t('channel.removeDisabled.text'),
      confirm: t('do.delete'),
      danger: true,
      onConfirm: async () => {
        const count = await removeDisabledChannels()
        toast.success(text('channel.removeDisabled.done', { count }))
      },
    })
  const lastTests = useQuery({ ...progressQuery, enabled: !classic }).data
  const entries = [
    {
      id: 'report',
      label: t('channel.report.last'),
      icon: <ClipboardList />,
      disabled: !lastTests?.finished_at,
      run: () => onReport(lastTests?.started_at ?? 0),
    },
    {
      id: 'remove',
      label: t('channel.removeDisabled'),
      icon: <Trash2 />,
      danger: true,
      run: removeDisabled,
    },
  ]
  return (
    <>
      <TestAllButton onFailures={onReport} />
      <Button icon={<RefreshCw />} busy={busy} onClick={() => void balances()}>
        {t('channel.balances')}
      </Button>
      {!classic && (
        <Menu entries={entries} trigger={<IconButton label={t('channel.more')} icon={<Ellipsis />} />} align="end" />
      )}
      <AddLink />
      {question}
    </>
  )
}
