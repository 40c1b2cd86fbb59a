import type { ReactNode } from 'react'
import type { UsageRow } from '../../../contract/api/usage-table.ts'
import { Spark } from '../../components/chart/spark.tsx'
import type { Column } from '../../components/data-table/types.ts'
import { ModelMark } from '../../components/provider-mark.tsx'
import { formatCount, formatNumber, formatPercent, formatQuota, formatSum } from '../../lib/format.ts'
import { lossClass } from '../../lib/loss-class.ts'
import type { Text } from '../../lib/text.ts'
import { mostChange } from './figures.tsx'
import { nameOfGroup } from './name-of-group.ts'
import type { UsageView } from './queries.ts'

interface ColumnsOf {
  by: Exclude<UsageView['group'], 'none'>
  and: UsageView['and']
  t: Text
  /** Whether the cost of at least one request is known. */
  hasCosts: boolean
  /** A row's name as a link to its logs. */
  linkOf(row: UsageRow, shown: string): ReactNode
}

const part = (of: number, whole: number) => (whole === 0 ? 0 : of / whole)
const meanOf = ({ quota, requests }: UsageRow) => part(quota, requests)
const changeOf = ({ quota, previous_quota }: UsageRow) => quota - (previous_quota ?? 0)

/** The columns of the table of usage. */
export function usageColumns({ by, and, t, linkOf, hasCosts }: ColumnsOf): Column<UsageRow>[] {
  const nameOf = (row: UsageRow) => nameOfGroup(by, row.name, t)
  const number = { align: 'end', skeleton: 'w-14', sortable: true } as const
  return [
    {
      id: 'name',
      header: t(`usage.table.name.${by}`),
      cell: (row) => (
        <span className="flex items-baseline gap-2">
          {by === 'model' && row.name !== '' && <ModelMark model={row.name} className="self-center" />}
          {linkOf(row, nameOf(row))}
          {row.owner !== '' && <span className="text-muted">{row.owner}</span>}
        </span>
      ),
      value: nameOf,
      sortable: true,
      card: 'title',
      required: true,
      skeleton: 'w-32',
    },
    ...(and === undefined ? [] : [secondColumn(and, t)]),
    {
      ...number,
      id: 'quota',
      header: t('usage.table.spend'),
      cell: (row) => formatSum(row.quota),
      value: (row) => row.quota,
    },
    {
      ...number,
      id: 'share',
      header: t('usage.table.share'),
      cell: (row) => formatPercent(row.share),
      value: (row) => row.share,
      sortable: false,
    },
    ...(hasCosts
      ? [
          {
            ...number,
            id: 'cost',
            header: t('usage.metric.cost'),
            cell: (row: UsageRow) => (row.cost === undefined ? '–' : formatSum(row.cost)),
            value: (row: UsageRow) => row.cost ?? 0,
          },
          {
            ...number,
            id: 'margin',
            header: t('usage.metric.margin'),
            cell: (row: UsageRow) =>
              row.margin === undefined ? '–' : <span className={lossClass(row.margin)}>{formatSum(row.margin)}</span>,
            value: (row: UsageRow) => row.margin ?? 0,
          },
        ]
      : []),
    {
      ...number,
      id: 'requests',
      header: t('usage.table.requests'),
      cell: (row) => formatCount(row.requests),
      value: (row) => row.requests,
    },
    {
      ...number,
      id: 'prompt_tokens',
      header: t('usage.table.in'),
      cell: (row) => formatNumber(row.prompt_tokens),
      value: (row) => row.prompt_tokens,
    },
    {
      ...number,
      id: 'completion_tokens',
      header: t('usage.table.out'),
      cell: (row) => formatNumber(row.completion_tokens),
      value: (row) => row.completion_tokens,
    },
    {
      ...number,
      id: 'cached',
      header: t('usage.table.cached'),
      cell: (row) => formatPercent(part(row.cached_tokens, row.prompt_tokens), 0),
      value: (row) => part(row.cached_tokens, row.prompt_tokens),
    },
    {
      ...number,
      id: 'failed',
      header: t('usage.table.failed'),
      cell: (row) => failedText(row, t),
      value: (row) => row.failed,
    },
    { ...number, id: 'mean', header: t('usage.table.mean'), cell: (row) => formatQuota(meanOf(row), 6), value: meanOf },
    ...(and === 'day' ? [] : [changeColumn(t)]),
    ...(and === undefined ? [trendColumn(t, nameOf)] : []),
  ]
}

function secondColumn(and: NonNullable<UsageView['and']>, t: Text): Column<UsageRow> {
  const nameOf = (row: UsageRow) => nameOfGroup(and, row.second_name, t)
  return {
    id: 'second',
    header: t(`usage.table.name.${and}`),
    cell: (row) =>
      and === 'model' && row.second_name !== '' ? (
        <span className="inline-flex items-center gap-2">
          <ModelMark model={row.second_name} />
          {row.second_name}
        </span>
      ) : (
        nameOf(row)
      ),
    value: nameOf,
    sortable: true,
    required: true,
    skeleton: 'w-24',
  }
}

function failedText({ failed, calls }: UsageRow, t: Text): string {
  if (failed === 0) return '0'
  return t('usage.table.failed.rate', { failed: formatCount(failed), rate: formatPercent(part(failed, calls)) })
}

/** The change as a percentage. The column is sorted by the amount, which the title shows. */
function changeColumn(t: Text): Column<UsageRow> {
  const textOf = ({ quota, previous_quota: before }: UsageRow) => {
    if (before === null) return ''
    if (before === 0) return quota === 0 ? '' : t('usage.table.new')
    const change = Math.min(quota / before - 1, mostChange)
    return `${change === mostChange ? '>' : ''}${formatPercent(change, 0, 'exceptZero')}`
  }
  return {
    id: 'change',
    header: t('usage.table.change'),
    cell: (row) => {
      const change = changeOf(row)
      const amount = `${change > 0 ? '+' : ''}${formatSum(change)}`
      return (
        <span className="text-muted" title={t('usage.table.change.title', { amount })}>
          {textOf(row)}
        </span>
      )
    },
    value: changeOf,
    sortable: true,
    align: 'end',
    skeleton: 'w-12',
  }
}

function trendColumn(t: Text, nameOf: (row: UsageRow) => string): Column<UsageRow> {
  return {
    id: 'trend',
    header: t('usage.table.trend'),
    cell: (row) => (
      <span className="inline-block w-24 align-middle">
        <Spark values={row.values} summary={t('usage.table.trend.of', { name: nameOf(row) })} />
      </span>
    ),
    card: 'hide',
    skeleton: 'w-24',
  }
}
