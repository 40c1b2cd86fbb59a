import { useQuery } from '@tanstack/react-query'
import type { Log } from '../../../contract/api/log.ts'
import { Card } from '../../components/ui/page.tsx'
import { formatCount, useFormatQuota } from '../../lib/format.ts'
import { lossClass } from '../../lib/loss-class.ts'
import { useText } from '../../lib/text.ts'
import { splitCost } from './cost-parts.ts'
import { currentPricesQuery } from './queries.ts'

const decimals = 6

/** What a call cost, by kind of tokens. */
export function CostCard({ log }: { log: Log }) {
  const t = useText()
  const formatQuota = useFormatQuota()
  const needsPrices = log.cached_tokens > 0 || log.reasoning_tokens > 0
  const { data: prices, isPending } = useQuery({ ...currentPricesQuery, enabled: needsPrices })
  const split = needsPrices && isPending ? undefined : splitCost(log, prices)
  return (
    <Card title={t('log.inspect.cost')}>
      <table className="w-full text-sm">
        <thead className="sr-only">
          <tr>
            <th scope="col">{t('log.inspect.cost.kind')}</th>
            <th scope="col">{t('log.kpi.tokens')}</th>
            <th scope="col">{t('log.inspect.cost')}</th>
          </tr>
        </thead>
        <tbody>
          {split?.parts.map(({ kind, tokens, quota }) => (
            <tr key={kind}>
              <th scope="row" className="py-1 text-start font-normal text-muted">
                {t(`log.inspect.cost.${kind}`)}
              </th>
              <td className="num py-1 text-end">{tokens !== undefined && formatCount(tokens)}</td>
              <td className="num py-1 ps-4 text-end">{formatQuota(quota, decimals)}</td>
            </tr>
          ))}
          <tr className="border-t border-line font-medium">
            <th scope="row" className="py-1.5 text-start">
              {t('log.inspect.cost.total')}
            </th>
            <td className="num py-1.5 text-end">{formatCount(log.prompt_tokens + log.completion_tokens)}</td>
            <td className="num py-1.5 ps-4 text-end">{formatQuota(log.quota, decimals)}</td>
          </tr>
          {typeof log.cost === 'number' && (
            <>
              <Amount label={t('log.inspect.cost.upstream')} value={formatQuota(log.cost, decimals)} />
              <Amount
                label={t('log.inspect.cost.margin')}
                value={formatQuota(log.quota - log.cost, decimals)}
                className={lossClass(log.quota - log.cost)}
              />
            </>
          )}
        </tbody>
      </table>
      <p className="mt-2 text-sm text-muted">
        {split ? t(split.usesCurrentPrices ? 'log.inspect.cost.current' : 'log.inspect.cost.recorded') : log.content}
      </p>
      {log.estimated && <p className="mt-1 text-sm text-muted">{t('log.peek.estimated')}</p>}
    </Card>
  )
}

/** A line with the upstream's cost or the margin. Only admins receive these figures. */
function Amount({ label, value, className = '' }: { label: string; value: string; className?: string }) {
  return (
    <tr>
      <th scope="row" className="py-1 text-start font-normal text-muted">
        {label}
      </th>
      <td />
      <td className={`num py-1 ps-4 text-end ${className}`}>{value}</td>
    </tr>
  )
}
