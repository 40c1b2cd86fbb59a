import { formatPercent, formatSum } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import { costDifference, type RatioKey, type Ratios } from './ratio-draft.ts'
import type { RatioState } from './use-ratios.ts'

/** Shows what the calls of the last 7 days would have cost at the ratios in the boxes. */
export function CostPreview({ state, ratios }: { state: RatioState; ratios: Readonly<Record<RatioKey, Ratios>> }) {
  const t = useText()
  const { week, weekFailed, prices, stored } = state
  // Without the server's prices, an estimate is not possible.
  if (!prices) return null
  return (
    <section aria-label={t('ratio.preview')} className="rounded-md bg-sunken px-3 py-2.5 text-sm">
      <h3 className="font-medium">{t('ratio.preview')}</h3>
      <p role="status" className="num mt-0.5 min-h-5">
        {weekFailed && t('ratio.preview.failed')}
        {week && sentence()}
      </p>
      <p className="mt-0.5 text-muted">{t('ratio.preview.note')}</p>
    </section>
  )

  function sentence(): string {
    const before = week?.total.quota ?? 0
    const uses = (week?.groups ?? []).map(({ key, total }) => ({ model: key, ...total }))
    const own = { prompt: ratios.ModelRatio, completion: ratios.CompletionRatio }
    const difference = Math.round(costDifference(uses, prices ?? [], stored, own))
    if (difference === 0) return t('ratio.preview.same', { cost: formatSum(before) })
    const percent = before > 0 ? `${difference > 0 ? '+' : ''}${formatPercent(difference / before)}` : ''
    return t('ratio.preview.changed', {
      before: formatSum(before),
      after: formatSum(before + difference),
      change: percent || formatSum(difference),
    })
  }
}
