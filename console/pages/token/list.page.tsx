import { Link, useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { Suspense, useCallback, useMemo, useState } from 'react'
import type { Token } from '../../../contract/api/token.ts'
import { roles } from '../../../contract/roles.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { deleteQuestion } from '../../components/data-table/delete-question.ts'
import { peekSteps } from '../../components/data-table/peek-steps.ts'
import { useCopyLines } from '../../components/data-table/use-copy-lines.tsx'
import { useList } from '../../components/data-table/use-list.ts'
import { nameOf } from '../../components/token-parts.tsx'
import { buttonClass } from '../../components/ui/button.tsx'
import { Page } from '../../components/ui/page.tsx'
import { EmptyState } from '../../components/ui/states.tsx'
import { useConfirm } from '../../components/ui/use-confirm.tsx'
import { writeClipboard } from '../../lib/clipboard.ts'
import { firstLook } from '../../lib/first-look.ts'
import { useHotkeys } from '../../lib/hotkeys.ts'
import { lazy } from '../../lib/lazy.ts'
import { queryClient } from '../../lib/query-client.ts'
import { useClassicServer } from '../../lib/status.ts'
import { loadAreas, useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { keyOf } from '../../lib/token-key.ts'
import { useListState } from '../../lib/way-back.ts'
import { deleteToken, endOldKeyQuestion, tokenActions, tokenBulk } from './actions.tsx'
import { BaseUrl } from './base-url.tsx'
import { tokenColumns } from './columns.tsx'
import { TokenFilters, useHasProjects } from './project-filter.tsx'
import { tokenQuery, tokens } from './queries.ts'
import { parseTokenSearch, type TokenSearch } from './search.ts'

const RecordingNotice = lazy(() =>
  import('../../components/recording-notice.tsx').then((it) => ({ default: it.RecordingNotice })),
)
const TokenPeek = lazy(async () => {
  // The limits in the drawer use the messages of area `form`.
  const [it] = await Promise.all([import('./details-drawer.tsx'), loadAreas(['form'])])
  return { default: it.TokenPeek }
})
const TokenQr = lazy(() => import('./qr-dialog.tsx').then((it) => ({ default: it.TokenQr })))
const RotateDialog = lazy(() => import('./rotate-dialog.tsx').then((it) => ({ default: it.RotateDialog })))
const TokenStart = lazy(() => import('./start.tsx').then((it) => ({ default: it.TokenStart })))

/** Fetches the token in advance, because the user may be about to open its drawer. */
const near = (token: Token) =>
  void queryClient.prefetchQuery({ ...tokenQuery(String(token.id)), staleTime: nearStaleMs })
const nearStaleMs = 10_000
const rowId = (token: Token) => String(token.id)

/** The filter of a search in the server's format. */
const filterOf = ({ status, project }: TokenSearch) => ({ status, project })

firstLook({ path: '/token', role: roles.user, source: tokens, parse: parseTokenSearch, filters: filterOf })

/** `/token`: the user's own tokens. */
export function TokenListPage() {
  const t = useText()
  const navigate = useNavigate()
  const [search, setSearch] = useListState('/token', parseTokenSearch)
  const classic = useClassicServer()
  const list = useList(tokens, search, setSearch, classic ? {} : filterOf(search))
  const [ask, question] = useConfirm()
  const [copyLines, byHand] = useCopyLines()
  const [rotating, setRotating] = useState<Token>()

  const copy = useCallback(
    async (token: Token) => {
      const copied = await writeClipboard(keyOf(token))
      if (copied) toast.success(t('done.copied'))
      else {
        toast.warning(t('token.clipboard'))
        setSearch({ q: keyOf(token) }, { replace: true })
      }
      return copied
    },
    [t, setSearch],
  )
  const grouped = useHasProjects()
  const columns = useMemo(() => tokenColumns(t, copy, grouped), [t, copy, grouped])
  const edit = useCallback(
    (token: Token) => void navigate({ to: '/token/edit/$id', params: { id: rowId(token) } }),
    [navigate],
  )
  const add = () => void navigate({ to: '/token/add' })
  const rowName = useCallback((token: Token) => nameOf(token, t), [t])
  const rowActions = useCallback(
    (token: Token) => {
      const chat = () => void navigate({ to: '/playground', search: { token: token.id } })
      const scan = () => setSearch({ qr: rowId(token) })
      const remove = () =>
        ask(
          deleteQuestion(t, { name: nameOf(token, t), text: t('token.delete.text'), remove: () => deleteToken(token) }),
        )
      const end = () => ask(endOldKeyQuestion(token, t))
      return tokenActions(token, t, {
        copy,
        edit,
        remove,
        chat,
        scan,
        rotate: classic ? undefined : setRotating,
        endOldKey: end,
      })
    },
    [t, ask, copy, edit, navigate, setSearch, classic],
  )
  useHotkeys({ n: add })

  const actions = (
    <>
      <BaseUrl />
      <AddButton />
    </>
  )
  return (
    <Page title={t('token.title')} text={t('token.intro')} width="full" actions={actions}>
      <Suspense fallback={null}>
        <RecordingNotice />
      </Suspense>
      <DataTable
        name="tokens"
        caption={t('token.title')}
        columns={columns}
        list={list}
        search={search}
        setSearch={setSearch}
        rowId={rowId}
        rowName={rowName}
        actions={rowActions}
        bulk={tokenBulk(t, copyLines)}
        peeks
        nearRow={near}
        searchLabel={t('token.search')}
        filters={!classic && <TokenFilters {...{ search, setSearch }} />}
        filtered={!classic && (search.status !== undefined || search.project !== undefined)}
        onClearFilters={() => setSearch({ q: undefined, status: undefined, project: undefined, page: undefined })}
        empty={
          <EmptyState title={t('token.empty')} text={t('token.empty.text')}>
            <AddButton />
          </EmptyState>
        }
      />
      {question}
      {byHand}
      <Suspense fallback={null}>
        {search.peek !== undefined && (
          <TokenPeek
            id={search.peek}
            steps={peekSteps({ list, rowId, peek: search.peek, setSearch })}
            onClose={() => setSearch({ peek: undefined })}
            onEdit={edit}
          />
        )}
        {rotating && <RotateDialog token={rotating} onClose={() => setRotating(undefined)} />}
        {search.qr !== undefined && <TokenQr id={search.qr} onClose={() => setSearch({ qr: undefined })} />}
        {search.start !== undefined && (
          <TokenStart id={search.start} onClose={() => setSearch({ start: undefined }, { replace: true })} />
        )}
      </Suspense>
    </Page>
  )
}

function AddButton() {
  const t = useText()
  return (
    <Link to="/token/add" className={buttonClass({ look: 'primary' })}>
      <Plus aria-hidden="true" />
      {t('token.add')}
    </Link>
  )
}
