import { useNavigate } from '@tanstack/react-router'
import { CreditCard, Download, Pencil } from 'lucide-react'
import { useCallback, useMemo } from 'react'
import type { Budget } from '../../../contract/api/budget.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { FilterBar, FilterSelect } from '../../components/data-table/filter-bar.tsx'
import type { RowAction } from '../../components/data-table/types.ts'
import { useList } from '../../components/data-table/use-list.ts'
import { buttonClass } from '../../components/ui/button.tsx'
import { Card, Page } from '../../components/ui/page.tsx'
import { EmptyState } from '../../components/ui/states.tsx'
import { isAdmin, useSessionUser } from '../../lib/session.ts'
import { useClassicServer, useServerStatus } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { type SetSearch, useUrlState } from '../../lib/use-url-state.ts'
import { budgetColumns, kindText, nameOf } from './columns.tsx'
import { budgets, exportAddress, filterOf, shownLevels, shownOwners, shownPeriods } from './queries.ts'
import { type BudgetSearch, parseBudgetSearch } from './search.ts'

const rowId = ({ owner, period, user_id, token_id }: Budget) => [owner, period, user_id, token_id].join('-')
const noFilters = { owner: undefined, period: undefined, level: undefined, user: undefined, page: undefined } as const

/** `/budget`: the limits on spending, how much of each is used, and when it runs out. */
export function BudgetListPage() {
  const t = useText()
  return (
    <Page title={t('budget.title')} text={t('budget.intro')} width="full">
      {useClassicServer() ? (
        <Card>
          <EmptyState title={t('budget.classic')} />
        </Card>
      ) : (
        <Budgets />
      )}
    </Page>
  )
}

function Budgets() {
  const t = useText()
  const navigate = useNavigate()
  // Renders again when the server's settings for amounts change.
  useServerStatus()
  const user = useSessionUser()
  const admin = isAdmin(user)
  const [search, setSearch] = useUrlState(parseBudgetSearch)
  const sorted = { ...search, sort: search.sort ?? '-share' }
  const filters = filterOf(search, admin)
  const list = useList(budgets, sorted, setSearch, filters)
  const columns = useMemo(() => budgetColumns(t, admin), [t, admin])
  const rowName = useCallback((row: Budget) => `${nameOf(row)}, ${kindText(row, t)}`, [t])
  const actions = useCallback(
    (row: Budget): RowAction[] => {
      const isOwn = row.user_id === user?.id
      const params = { id: String(row.owner === 'token' ? row.token_id : row.user_id) }
      if (row.owner === 'token') {
        // Only the owner of a token can edit it.
        const run = () => void navigate({ to: '/token/edit/$id', params })
        return isOwn ? [{ id: 'edit', label: t('budget.edit'), icon: <Pencil />, primary: true, run }] : []
      }
      if (row.period === 'total') {
        const run = () =>
          void (admin ? navigate({ to: '/user', search: { peek: String(row.user_id) } }) : navigate({ to: '/topup' }))
        const label = t(admin ? 'budget.addCredit' : 'budget.topUp')
        return [{ id: 'credit', label, icon: <CreditCard />, primary: true, run }]
      }
      if (!admin) return []
      const run = () => void navigate({ to: '/user/edit/$id', params })
      return [{ id: 'edit', label: t('budget.edit'), icon: <Pencil />, primary: true, run }]
    },
    [t, navigate, admin, user?.id],
  )
  const active = Object.values(filters).filter((each) => each !== undefined).length
  return (
    <DataTable
      name="budgets"
      caption={t('budget.title')}
      columns={columns}
      list={list}
      search={sorted}
      setSearch={setSearch}
      rowId={rowId}
      rowName={rowName}
      actions={actions}
      searchLabel={t('budget.search')}
      filters={<Filters search={search} setSearch={setSearch} active={active} />}
      filtered={active > 0}
      onClearFilters={() => setSearch({ q: undefined, ...noFilters })}
      toolbar={
        <a href={exportAddress(sorted, admin)} download className={buttonClass()}>
          <Download />
          {t('budget.export')}
        </a>
      }
      empty={<EmptyState title={t('budget.empty')} text={t('budget.empty.text')} />}
    />
  )
}

interface FiltersProps {
  search: BudgetSearch
  setSearch: SetSearch<BudgetSearch>
  /** How many filters are set. */
  active: number
}

function Filters({ search, setSearch, active }: FiltersProps) {
  const t = useText()
  return (
    <FilterBar active={active} onClear={() => setSearch(noFilters)}>
      <FilterSelect
        label={t('budget.level')}
        all={t('budget.level.all')}
        value={search.level}
        choices={shownLevels.map((value) => ({ value, label: t(`budget.level.${value}`) }))}
        onChange={(value) => setSearch({ level: value, page: undefined })}
      />
      <FilterSelect
        label={t('budget.owner')}
        all={t('budget.owner.all')}
        value={search.owner}
        choices={shownOwners.map((value) => ({ value, label: t(`budget.owner.${value}`) }))}
        onChange={(value) => setSearch({ owner: value, page: undefined })}
      />
      <FilterSelect
        label={t('budget.kind')}
        all={t('budget.kind.all')}
        value={search.period}
        choices={shownPeriods.map((value) => ({ value, label: t(`budget.period.${value}`) }))}
        onChange={(value) => setSearch({ period: value, page: undefined })}
      />
    </FilterBar>
  )
}
