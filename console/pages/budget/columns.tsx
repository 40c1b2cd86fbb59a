import { Link } from '@tanstack/react-router'
import type { Budget } from '../../../contract/api/budget.ts'
import type { Column } from '../../components/data-table/types.ts'
import { formatSum, formatTime } from '../../lib/format.ts'
import type { Text } from '../../lib/text.ts'
import { ShareBar } from './share-bar.tsx'

/** Dates further ahead than this are not shown, because the pace will have changed by then. */
const farSeconds = 365 * 86_400

export const nameOf = ({ owner, username, token_name }: Budget) => (owner === 'token' ? token_name : username)

/** The columns of the list of budgets. */
export function budgetColumns(t: Text, admin: boolean): Column<Budget>[] {
  const number = { align: 'end', skeleton: 'w-16', sortable: true } as const
  const amount = (id: 'used' | 'limit' | 'left' | 'pace', header: string): Column<Budget> => ({
    ...number,
    id,
    header,
    cell: (row) => formatSum(row[id]),
    value: (row) => row[id],
  })
  return [
    {
      id: 'name',
      header: t('budget.name'),
      cell: (row) => <Name row={row} admin={admin} t={t} />,
      value: nameOf,
      sortable: true,
      card: 'title',
      required: true,
      skeleton: 'w-32',
    },
    {
      id: 'kind',
      header: t('budget.kind'),
      cell: (row) => (
        <span className="flex flex-wrap items-baseline gap-x-2">
          {kindText(row, t)}
          {row.from_group !== '' && (
            <span className="text-muted">{t('budget.ofGroup', { group: row.from_group })}</span>
          )}
        </span>
      ),
      value: (row) => kindText(row, t),
      skeleton: 'w-28',
    },
    {
      id: 'share',
      header: t('budget.share'),
      cell: (row) => <ShareBar share={row.share} />,
      value: (row) => row.share,
      sortable: true,
      skeleton: 'w-32',
    },
    amount('used', t('budget.used')),
    amount('limit', t('budget.limit')),
    amount('left', t('budget.left')),
    amount('pace', t('budget.pace')),
    {
      id: 'runs_out',
      header: t('budget.forecast'),
      cell: (row) => <Forecast row={row} t={t} />,
      value: (row) => row.runs_out ?? '',
      exported: (row) => (row.runs_out === null ? '' : formatTime(row.runs_out)),
      sortable: true,
      wraps: true,
    },
  ]
}

/** A short name for the kind of limit. */
export function kindText({ owner, period }: Budget, t: Text): string {
  if (period !== 'total') return t(`budget.period.${period}`)
  return t(owner === 'user' ? 'budget.balance' : 'budget.quota')
}

function Name({ row, admin, t }: { row: Budget; admin: boolean; t: Text }) {
  const link = 'max-w-56 truncate text-link hover:underline'
  const name = nameOf(row) || t('budget.unnamed')
  return (
    <span className="flex items-baseline gap-2">
      {admin ? (
        <Link to="/user" search={{ peek: String(row.user_id) }} className={link}>
          {name}
        </Link>
      ) : (
        <span className="max-w-56 truncate">{name}</span>
      )}
      {row.owner === 'token' && <span className="text-muted">{admin ? row.username : t('budget.token')}</span>}
    </span>
  )
}

/** When the limit will be reached. If that is not expected, the amount that will be spent when the period ends. */
function Forecast({ row: { runs_out, forecast, left, pace, resets }, t }: { row: Budget; t: Text }) {
  if (left <= 0)
    return (
      <span className="text-bad">
        {resets > 0 ? t('budget.reached.until', { time: formatTime(resets) }) : t('budget.reached')}
      </span>
    )
  if (runs_out !== null) {
    if (resets === 0 && runs_out - Date.now() / 1000 > farSeconds)
      return <span className="text-muted">{t('budget.far')}</span>
    return (
      <span className={resets > 0 ? 'text-warn' : ''}>
        {t('budget.runsOut', { time: formatTime(runs_out).slice(0, 16) })}
      </span>
    )
  }
  if (forecast !== null && pace > 0)
    return <span className="text-muted">{t('budget.ends', { amount: formatSum(forecast) })}</span>
  return <span className="text-muted">{t('budget.idle')}</span>
}
