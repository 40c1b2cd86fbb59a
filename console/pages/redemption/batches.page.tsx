import { Link, useNavigate } from '@tanstack/react-router'
import { Ban, CircleCheck, List, QrCode } from 'lucide-react'
import { useCallback, useMemo } from 'react'
import type { RedemptionBatch } from '../../../contract/api/redemption.ts'
import { redemptionStatus } from '../../../contract/statuses.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import type { RowAction } from '../../components/data-table/types.ts'
import { useList } from '../../components/data-table/use-list.ts'
import { buttonClass } from '../../components/ui/button.tsx'
import { Card, Page } from '../../components/ui/page.tsx'
import { EmptyState, RowsSkeleton } from '../../components/ui/states.tsx'
import { useConfirm } from '../../components/ui/use-confirm.tsx'
import { usePageCrumb } from '../../lib/crumb.ts'
import { hasMoreCalls, useClassicServer, useServerStatus } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { parseListSearch } from '../../lib/url-state.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { batchColumns, batchName } from './batch-columns.tsx'
import { batches, switchBatch } from './queries.ts'

const rowId = ({ name }: RedemptionBatch) => name

/** `/redemption/batches`: for each batch (the codes with the same name), the number of codes and their value. */
export function RedemptionBatchesPage() {
  const t = useText()
  const status = useServerStatus()
  usePageCrumb(t('redemption.batches.title'), '/redemption')
  return (
    <Page title={t('redemption.batches.title')} text={t('redemption.batches.intro')} width="full" actions={<ToCodes />}>
      {useClassicServer() ? (
        <Card>
          <EmptyState title={t('redemption.batches.classic')} />
        </Card>
      ) : hasMoreCalls(status) ? (
        <Batches />
      ) : (
        <RowsSkeleton className="h-96" />
      )}
    </Page>
  )
}

function ToCodes() {
  const t = useText()
  return (
    <Link to="/redemption" className={buttonClass()}>
      {t('redemption.batches.codes')}
    </Link>
  )
}

function Batches() {
  const t = useText()
  const navigate = useNavigate()
  // Renders again when the server's settings for amounts change.
  useServerStatus()
  const [search, setSearch] = useUrlState(parseListSearch)
  const list = useList(batches, search, setSearch)
  const [ask, question] = useConfirm()
  const columns = useMemo(() => batchColumns(t), [t])
  const rowName = useCallback((batch: RedemptionBatch) => batchName(batch, t), [t])
  const actions = useCallback(
    (batch: RedemptionBatch): RowAction[] => {
      const { name, unused, disabled } = batch
      // Expired codes are disabled, too. Otherwise, a later expiry date would make them valid again.
      const open = unused + batch.expired
      const enable = async () => {
        const count = await switchBatch(name, redemptionStatus.unused)
        toast.success(t('redemption.batch.enabled', { count }))
      }
      const disable = () =>
        ask({
          title: t('redemption.batch.disable.title', { name: batchName(batch, t) }),
          text: t('redemption.batch.disable.text', { count: open }),
          confirm: t('redemption.batch.disable'),
          danger: true,
          onConfirm: async () => {
            const count = await switchBatch(name, redemptionStatus.disabled)
            toast.success(t('redemption.batch.disabled', { count }))
          },
        })
      const noName = name === ''
      return [
        {
          ...{ id: 'codes', label: t('redemption.batch.view'), icon: <List />, primary: true, disabled: noName },
          run: () => void navigate({ to: '/redemption', search: { batch: name } }),
        },
        {
          ...{ id: 'sheet', label: t('redemption.sheet.open'), icon: <QrCode />, primary: true },
          disabled: noName || unused === 0,
          hint: unused === 0 ? t('redemption.sheet.none') : undefined,
          run: () => void navigate({ to: '/redemption/sheet', search: { batch: name } }),
        },
        {
          ...{ id: 'disable', label: t('redemption.batch.disable'), icon: <Ban />, danger: true },
          disabled: open === 0,
          run: disable,
        },
        {
          ...{ id: 'enable', label: t('redemption.batch.enable'), icon: <CircleCheck /> },
          disabled: disabled === 0,
          // If the call fails, it shows its own error.
          run: () => void enable().catch(() => undefined),
        },
      ]
    },
    [t, ask, navigate],
  )
  return (
    <>
      <DataTable
        name="redemption-batches"
        caption={t('redemption.batches.title')}
        columns={columns}
        list={list}
        search={search}
        setSearch={setSearch}
        rowId={rowId}
        rowName={rowName}
        actions={actions}
        searchLabel={t('redemption.batches.search')}
        empty={<EmptyState title={t('redemption.empty')} text={t('redemption.empty.text')} />}
      />
      {question}
    </>
  )
}
