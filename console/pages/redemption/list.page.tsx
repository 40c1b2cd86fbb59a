import { Link, useNavigate } from '@tanstack/react-router'
import { Layers, Plus } from 'lucide-react'
import { useCallback, useMemo } from 'react'
import type { Redemption } from '../../../contract/api/redemption.ts'
import { roles } from '../../../contract/roles.ts'
import { redemptionExpired, redemptionStatus } from '../../../contract/statuses.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { deleteQuestion } from '../../components/data-table/delete-question.ts'
import { FilterBar } from '../../components/data-table/filter-bar.tsx'
import { useCopyLines } from '../../components/data-table/use-copy-lines.tsx'
import { useList } from '../../components/data-table/use-list.ts'
import { buttonClass } from '../../components/ui/button.tsx'
import { Page } from '../../components/ui/page.tsx'
import { EmptyState } from '../../components/ui/states.tsx'
import { useConfirm } from '../../components/ui/use-confirm.tsx'
import { writeClipboard } from '../../lib/clipboard.ts'
import { firstLook } from '../../lib/first-look.ts'
import { useHotkeys } from '../../lib/hotkeys.ts'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import type { SetSearch } from '../../lib/use-url-state.ts'
import { useListState } from '../../lib/way-back.ts'
import { deleteCode, redemptionActions, redemptionBulk } from './actions.tsx'
import { nameOf, statusText } from './code-parts.tsx'
import { redemptionColumns } from './columns.tsx'
import { redemptions } from './queries.ts'
import { parseRedemptionSearch, type RedemptionSearch } from './search.ts'

const rowId = (code: Redemption) => String(code.id)

/** The filter of a search in the server's format. */
const filterOf = ({ status, batch }: RedemptionSearch) => ({ status, batch })

firstLook({
  path: '/redemption',
  role: roles.admin,
  source: redemptions,
  parse: parseRedemptionSearch,
  filters: filterOf,
})

const statuses = [redemptionStatus.unused, redemptionStatus.used, redemptionStatus.disabled, redemptionExpired]

interface FiltersProps {
  search: RedemptionSearch
  setSearch: SetSearch<RedemptionSearch>
}

/**
 * The filters for status and batch. The batch is shown only if one is chosen, because users choose it on the page that
 * lists all batches.
 */
function Filters({ search, setSearch }: FiltersProps) {
  const t = useText()
  const narrow = (change: Partial<RedemptionSearch>) => setSearch({ ...change, page: undefined })
  const { status, batch } = search
  const ofBatch = {
    label: t('redemption.batch'),
    all: t('redemption.batch.all'),
    value: batch,
    choices: batch === undefined ? [] : [{ value: batch, label: batch }],
    onChange: (value: string | undefined) => narrow({ batch: value }),
  }
  return (
    <FilterBar
      active={Number(status !== undefined) + Number(batch !== undefined)}
      onClear={() => narrow({ status: undefined, batch: undefined })}
      selects={[
        {
          label: t('redemption.status'),
          all: t('table.filters.statuses'),
          value: status,
          choices: statuses.map((each) => ({ value: String(each), label: statusText(each, t) })),
          onChange: (value) => narrow({ status: value }),
        },
        ...(batch === undefined ? [] : [ofBatch]),
      ]}
    />
  )
}

/** `/redemption`: the codes that can be redeemed for quota. */
export function RedemptionListPage() {
  const t = useText()
  const navigate = useNavigate()
  const [search, setSearch] = useListState('/redemption', parseRedemptionSearch)
  // A server that has only one-api's endpoints ignores filters.
  const classic = useClassicServer()
  const list = useList(redemptions, search, setSearch, classic ? {} : filterOf(search))
  const [ask, question] = useConfirm()
  const [copyLines, byHand] = useCopyLines()

  const copy = useCallback(
    async (code: Redemption) => {
      const copied = await writeClipboard(code.key)
      if (copied) toast.success(t('done.copied'))
      else {
        toast.warning(t('redemption.clipboard'))
        setSearch({ q: code.key }, { replace: true })
      }
      return copied
    },
    [t, setSearch],
  )
  const columns = useMemo(() => redemptionColumns(t, copy), [t, copy])
  const rowName = useCallback((code: Redemption) => nameOf(code, t), [t])
  const actions = useCallback(
    (code: Redemption) => {
      const edit = () => void navigate({ to: '/redemption/edit/$id', params: { id: rowId(code) } })
      const remove = () =>
        ask(
          deleteQuestion(t, {
            name: nameOf(code, t),
            text: t('redemption.delete.text'),
            remove: () => deleteCode(code),
          }),
        )
      return redemptionActions(code, t, { copy, edit, remove })
    },
    [t, ask, copy, navigate],
  )
  useHotkeys({ n: () => void navigate({ to: '/redemption/add' }) })

  const addButton = (
    <Link to="/redemption/add" className={buttonClass({ look: 'primary' })}>
      <Plus aria-hidden="true" />
      {t('redemption.add')}
    </Link>
  )
  const actionsOfPage = (
    <>
      {!classic && (
        <Link to="/redemption/batches" className={buttonClass()}>
          <Layers aria-hidden="true" />
          {t('redemption.batches')}
        </Link>
      )}
      {addButton}
    </>
  )
  return (
    <Page title={t('redemption.title')} text={t('redemption.intro')} width="full" actions={actionsOfPage}>
      <DataTable
        name="redemptions"
        caption={t('redemption.title')}
        columns={columns}
        list={list}
        search={search}
        setSearch={setSearch}
        rowId={rowId}
        rowName={rowName}
        actions={actions}
        bulk={redemptionBulk(t, copyLines)}
        searchLabel={t('redemption.search')}
        filters={!classic && <Filters search={search} setSearch={setSearch} />}
        filtered={!classic && (search.status !== undefined || search.batch !== undefined)}
        onClearFilters={() => setSearch({ q: undefined, status: undefined, batch: undefined, page: undefined })}
        empty={
          <EmptyState title={t('redemption.empty')} text={t('redemption.empty.text')}>
            {addButton}
          </EmptyState>
        }
      />
      {question}
      {byHand}
    </Page>
  )
}
