import type { Statement } from '../../../contract/api/statement.ts'
import { Card } from '../../components/ui/page.tsx'
import { formatCount, formatQuota, formatTime } from '../../lib/format.ts'
import { lossClass } from '../../lib/loss-class.ts'
import { useServerStatus } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'

/** Amounts have all their decimals, so that the lines visibly add up. */
const decimals = 6
const amount = (quota: number) => formatQuota(quota, decimals)
const signed = (quota: number) => `${quota > 0 ? '+' : ''}${amount(quota)}`

/** A statement: the account, how its balance changed, and what each model cost. */
export function StatementView({ statement, month }: { statement: Statement; month: string }) {
  const t = useText()
  // Renders again when the server's settings for amounts change.
  useServerStatus()
  const { user, end, held } = statement
  const isOver = end < Date.now() / 1000 - 60
  const lines = [
    [t('statement.opening'), amount(statement.opening), 'font-medium'],
    [t('statement.topUps'), signed(statement.top_ups), ''],
    [t('statement.bonuses'), signed(statement.bonuses), ''],
    [t('statement.adjustments'), signed(statement.adjustments), ''],
    [t('statement.charges'), signed(-statement.charges), ''],
    [t('statement.closing'), amount(statement.closing), 'font-semibold'],
  ] as const
  return (
    <div className="flex flex-col gap-4">
      <div>
        <p className="text-base font-medium">
          {t('statement.of', { name: user.display_name || user.username, month })}
        </p>
        <p className="text-sm text-muted">
          {user.display_name !== '' && user.display_name !== user.username && `${user.username} · `}
          {t('statement.zone', { zone: statement.time_zone })}
          {!isOver && ` · ${t('statement.until', { time: formatTime(end) })}`}
        </p>
      </div>
      {!statement.is_exact && (
        <p className="text-sm text-warn">
          {[
            t('statement.inexact'),
            statement.unknown_changes !== 0 &&
              t('statement.inexact.changes', { amount: signed(statement.unknown_changes) }),
            statement.unknown_charges !== 0 &&
              t('statement.inexact.charges', { amount: amount(statement.unknown_charges) }),
          ]
            .filter(Boolean)
            .join(' ')}
        </p>
      )}
      <Card title={t('statement.balance')}>
        <dl>
          {lines.map(([label, value, weight]) => (
            <div key={label} className={`flex justify-between gap-4 border-line py-2 not-first:border-t ${weight}`}>
              <dt>{label}</dt>
              <dd className="num">{value}</dd>
            </div>
          ))}
        </dl>
        {held > 0 && <p className="pt-1 text-sm text-muted">{t('statement.held', { amount: amount(held) })}</p>}
      </Card>
      <Card title={t('statement.models')}>
        <Models statement={statement} />
      </Card>
    </div>
  )
}

function Models({ statement: { models, charges } }: { statement: Statement }) {
  const t = useText()
  if (models.length === 0) return <p className="text-sm text-muted">{t('statement.none')}</p>
  const cell = 'py-2 pl-4 text-end num whitespace-nowrap'
  const heads = [t('statement.requests'), t('statement.in'), t('statement.out')]
  // Only admins receive costs, and only if the cost of at least one request is known.
  const hasCosts = models.some(({ cost }) => cost !== undefined)
  const sum = (name: 'cost' | 'margin') => models.reduce((total, row) => total + (row[name] ?? 0), 0)
  const known = (value: number | undefined) => (value === undefined ? '–' : amount(value))
  return (
    <table className="w-full text-sm">
      <caption className="sr-only">{t('statement.models')}</caption>
      <thead>
        <tr className="text-muted">
          <th scope="col" className="pb-1 text-start font-medium">
            {t('statement.model')}
          </th>
          {heads.map((head) => (
            <th key={head} scope="col" className={`${cell} font-medium max-sm:hidden`}>
              {head}
            </th>
          ))}
          <th scope="col" className={`${cell} font-medium`}>
            {t('statement.cost')}
          </th>
          {hasCosts &&
            [t('statement.upstream'), t('statement.margin')].map((head) => (
              <th key={head} scope="col" className={`${cell} font-medium`}>
                {head}
              </th>
            ))}
        </tr>
      </thead>
      <tbody>
        {models.map((row) => (
          <tr key={row.model} className="border-t border-line">
            <th scope="row" className="py-2 text-start font-normal break-all">
              {row.model || t('statement.unnamed')}
            </th>
            <td className={`${cell} max-sm:hidden`}>{formatCount(row.requests)}</td>
            <td className={`${cell} max-sm:hidden`}>{formatCount(row.prompt_tokens)}</td>
            <td className={`${cell} max-sm:hidden`}>{formatCount(row.completion_tokens)}</td>
            <td className={cell}>{amount(row.quota)}</td>
            {hasCosts && <td className={cell}>{known(row.cost)}</td>}
            {hasCosts && <td className={`${cell} ${lossClass(row.margin)}`}>{known(row.margin)}</td>}
          </tr>
        ))}
        <tr className="border-t border-line font-medium">
          <th scope="row" className="py-2 text-start font-medium">
            {t('statement.total')}
          </th>
          <td className="max-sm:hidden" colSpan={3} />
          <td className={cell}>{amount(charges)}</td>
          {hasCosts && <td className={cell}>{amount(sum('cost'))}</td>}
          {hasCosts && <td className={`${cell} ${lossClass(sum('margin'))}`}>{amount(sum('margin'))}</td>}
        </tr>
      </tbody>
    </table>
  )
}
