import { Link } from '@tanstack/react-router'
import type { RedemptionBatch } from '../../../contract/api/redemption.ts'
import type { Column } from '../../components/data-table/types.ts'
import { formatCount, formatRelative, formatSum, formatTime } from '../../lib/format.ts'
import type { Text } from '../../lib/text.ts'

/** The display name of a batch, with a substitute for an empty name. */
export function batchName({ name }: RedemptionBatch, t: Text): string {
  return name || t('redemption.batch.noName')
}

/** The columns of the list of batches. */
export function batchColumns(t: Text): Column<RedemptionBatch>[] {
  return [
    {
      id: 'name',
      header: t('redemption.name'),
      cell: (batch) =>
        batch.name === '' ? (
          batchName(batch, t)
        ) : (
          <Link
            to="/redemption"
            search={{ batch: batch.name }}
            className="block max-w-64 truncate text-link hover:underline"
          >
            {batch.name}
          </Link>
        ),
      value: (batch) => batch.name,
      sortable: true,
      required: true,
      card: 'title',
      skeleton: 'w-32',
    },
    countColumn('made', t('redemption.batch.made')),
    countColumn('unused', t('redemption.status.unused')),
    countColumn('used', t('redemption.status.used')),
    countColumn('disabled', t('redemption.status.disabled')),
    countColumn('expired', t('redemption.status.expired')),
    sumColumn('outstanding_quota', t('redemption.batch.outstanding')),
    sumColumn('used_quota', t('redemption.batch.redeemed')),
    { ...sumColumn('quota', t('redemption.batch.value')), hidden: true },
    timeColumn('created_time', t('redemption.created')),
    timeColumn('redeemed_time', t('redemption.batch.last')),
  ]
}

function countColumn(id: 'made' | 'unused' | 'used' | 'disabled' | 'expired', header: string): Column<RedemptionBatch> {
  return {
    ...{ id, header, sortable: true, align: 'end', skeleton: 'w-8' },
    cell: (batch) => (batch[id] === 0 ? <span className="text-muted">0</span> : formatCount(batch[id])),
    value: (batch) => batch[id],
  }
}

function sumColumn(id: 'outstanding_quota' | 'used_quota' | 'quota', header: string): Column<RedemptionBatch> {
  return {
    ...{ id, header, sortable: true, align: 'end', skeleton: 'w-14' },
    cell: (batch) => formatSum(batch[id]),
    value: (batch) => batch[id],
  }
}

function timeColumn(id: 'created_time' | 'redeemed_time', header: string): Column<RedemptionBatch> {
  return {
    ...{ id, header, sortable: true, wraps: true },
    cell: (batch) =>
      batch[id] === 0 ? (
        <span className="text-muted">–</span>
      ) : (
        <time title={formatRelative(batch[id])}>{formatTime(batch[id])}</time>
      ),
    value: (batch) => batch[id],
  }
}
