import { Link, useNavigate } from '@tanstack/react-router'
import { UserPlus } from 'lucide-react'
import { Suspense, useCallback, useMemo } from 'react'
import type { User } from '../../../contract/api/user.ts'
import { roles } from '../../../contract/roles.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { deleteQuestion } from '../../components/data-table/delete-question.ts'
import { peekSteps } from '../../components/data-table/peek-steps.ts'
import { useList } from '../../components/data-table/use-list.ts'
import { buttonClass } from '../../components/ui/button.tsx'
import { Page } from '../../components/ui/page.tsx'
import { EmptyState } from '../../components/ui/states.tsx'
import { useConfirm } from '../../components/ui/use-confirm.tsx'
import { firstLook } from '../../lib/first-look.ts'
import { useHotkeys } from '../../lib/hotkeys.ts'
import { lazy } from '../../lib/lazy.ts'
import { queryClient } from '../../lib/query-client.ts'
import { useClassicServer } from '../../lib/status.ts'
import { loadAreas, useText } from '../../lib/text.ts'
import { useListState } from '../../lib/way-back.ts'
import { changeRole, deleteUser, userActions, userBulk } from './actions.tsx'
import { userColumns } from './columns.tsx'
import { filterCount, filterOf, noFilters, UserFilters } from './filters.tsx'
import { userQuery, users } from './queries.ts'
import { parseUserSearch } from './search.ts'
import { roleText } from './user-parts.tsx'

const UserPeek = lazy(async () => {
  // The limits in the drawer use the messages of area `form`.
  const [it] = await Promise.all([import('./details-drawer.tsx'), loadAreas(['form'])])
  return { default: it.UserPeek }
})

/** Fetches the user in advance, because the administrator may be about to open the user's drawer. */
const near = (user: User) => void queryClient.prefetchQuery({ ...userQuery(String(user.id)), staleTime: nearStaleMs })
const nearStaleMs = 10_000
const rowId = (user: User) => String(user.id)
const rowName = (user: User) => user.username

firstLook({ path: '/user', role: roles.admin, source: users, parse: parseUserSearch, filters: filterOf })

/** `/user`: all accounts. */
export function UserListPage() {
  const t = useText()
  const navigate = useNavigate()
  const [search, setSearch] = useListState('/user', parseUserSearch)
  const classic = useClassicServer()
  const list = useList(users, search, setSearch, classic ? {} : filterOf(search))
  const [ask, question] = useConfirm()
  const columns = useMemo(() => userColumns(t), [t])

  const edit = useCallback(
    (user: User) => void navigate({ to: '/user/edit/$id', params: { id: rowId(user) } }),
    [navigate],
  )
  const actions = useCallback(
    (user: User) => {
      const name = user.username
      const remove = () =>
        ask({
          ...deleteQuestion(t, { name, text: t('user.delete.text'), remove: () => deleteUser(user) }),
          typed: name,
        })
      const promote = () =>
        ask({
          title: t('user.promote.title', { name }),
          text: t('user.promote.text', { from: roleText(user.role, t), to: roleText(roles.admin, t) }),
          confirm: t('user.promote'),
          onConfirm: () => changeRole(user, 'promote'),
        })
      const demote = () =>
        ask({
          title: t('user.demote.title', { name }),
          text: t('user.demote.text', { from: roleText(user.role, t), to: roleText(roles.user, t) }),
          confirm: t('user.demote'),
          danger: true,
          onConfirm: () => changeRole(user, 'demote'),
        })
      return userActions(user, t, { edit, promote, demote, remove })
    },
    [t, ask, edit],
  )
  useHotkeys({ n: () => void navigate({ to: '/user/add' }) })

  const addButton = (
    <Link to="/user/add" className={buttonClass({ look: 'primary' })}>
      <UserPlus aria-hidden="true" />
      {t('user.add')}
    </Link>
  )
  return (
    <Page title={t('user.title')} text={t('user.intro')} width="full" actions={addButton}>
      <DataTable
        name="users"
        caption={t('user.title')}
        columns={columns}
        list={list}
        search={search}
        setSearch={setSearch}
        rowId={rowId}
        rowName={rowName}
        actions={actions}
        bulk={userBulk(t)}
        peeks
        nearRow={near}
        searchLabel={t('user.search')}
        filters={!classic && <UserFilters search={search} setSearch={setSearch} ready={!list.loading} />}
        filtered={!classic && filterCount(search) > 0}
        onClearFilters={() => setSearch({ ...noFilters, q: undefined, page: undefined })}
        empty={<EmptyState title={t('user.empty')}>{addButton}</EmptyState>}
      />
      {question}
      <Suspense fallback={null}>
        {search.peek !== undefined && (
          <UserPeek
            id={search.peek}
            steps={peekSteps({ list, rowId, peek: search.peek, setSearch })}
            tab={search.tab}
            onTab={(tab) => setSearch({ tab }, { replace: true })}
            onClose={() => setSearch({ peek: undefined, tab: undefined })}
            onEdit={edit}
          />
        )}
      </Suspense>
    </Page>
  )
}
