import { useState } from 'react'
import { type CostPreview, channelCostsApi, type ModelCost } from '../../../contract/api/channel-costs.ts'
import { Button } from '../../components/ui/button.tsx'
import { Checkbox } from '../../components/ui/checkbox.tsx'
import { call } from '../../lib/call.ts'
import { formatNumber } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import { type PriceList, PriceListFields } from './price-list-fields.tsx'

/** The prices that the user accepted from a price list. */
export interface Chosen {
  kind: 'gateway' | 'openrouter'
  url: string
  models: Record<string, ModelCost>
  /** Models whose price differs by a factor of ten or more, and was confirmed by the user. */
  confirmed: string[]
}

/** Reads a price list, shows what would change, and passes the accepted prices to `onTake`. */
export function CostsImport({ id, onTake }: { id: number; onTake(chosen: Chosen): void }) {
  const t = useText()
  const [list, setList] = useState<PriceList>({ kind: 'gateway', url: '', group: '' })
  const { kind, url, group } = list
  const [busy, setBusy] = useState(false)
  const [preview, setPreview] = useState<CostPreview>()
  const [confirmed, setConfirmed] = useState<readonly string[]>([])
  const compare = async () => {
    setBusy(true)
    try {
      const body = { kind, url, ...(kind === 'gateway' && { group }) }
      setPreview(await call(channelCostsApi.previewCosts, { params: { id }, body }))
      setConfirmed([])
    } catch {
      // The call has already shown the error.
    }
    setBusy(false)
  }
  const take = ({ rows, url: from }: CostPreview) => {
    const used = rows.filter(({ cost, held, model }) => cost !== null && (!held || confirmed.includes(model)))
    const models = Object.fromEntries(used.flatMap(({ model, cost }) => (cost ? [[model, cost] as const] : [])))
    onTake({ kind, url: from, models, confirmed: [...confirmed] })
    setPreview(undefined)
  }
  return (
    <section aria-label={t('carry.costs.import')} className="flex flex-col gap-3 border-t border-line pt-4">
      <h3 className="text-sm font-medium">{t('carry.costs.import')}</h3>
      <div className="grid items-start gap-3 sm:grid-cols-3">
        <PriceListFields list={list} onChange={(change) => setList({ ...list, ...change })} />
      </div>
      <Button size="small" className="self-start" busy={busy} onClick={() => void compare()}>
        {t('carry.costs.fetch')}
      </Button>
      {preview && (
        <>
          <Rows rows={preview.rows} confirmed={confirmed} onConfirm={setConfirmed} />
          <Button size="small" className="self-start" onClick={() => take(preview)}>
            {t('carry.costs.take')}
          </Button>
        </>
      )}
    </section>
  )
}

/** The prices of a model in a few characters. */
export const shortCost = ({ input, output, request, multiplier }: ModelCost) =>
  [
    input !== undefined && `$${input}`,
    output !== undefined && `$${output}`,
    request !== undefined && `$${request} / 1`,
    multiplier !== undefined && `× ${multiplier}`,
  ]
    .filter(Boolean)
    .join(' · ')

function Rows(props: {
  rows: CostPreview['rows']
  confirmed: readonly string[]
  onConfirm(models: readonly string[]): void
}) {
  const t = useText()
  const { rows, confirmed, onConfirm } = props
  const held = rows.filter((row) => row.held).length
  return (
    <>
      {held > 0 && <p className="text-sm text-warn">{t('carry.costs.held', { count: held })}</p>}
      <ul className="max-h-60 divide-y divide-line overflow-auto text-sm">
        {rows.map(({ model, change, old, cost, usual, factor, held: isHeld }) => (
          <li key={model} className="num flex flex-wrap items-center gap-x-3 gap-y-1 py-1.5">
            {isHeld && (
              <Checkbox
                aria-label={
                  factor !== null && factor >= 1 && !usual
                    ? t('carry.costs.confirm', { model, factor: formatNumber(factor) })
                    : t('carry.costs.confirm.free', { model })
                }
                checked={confirmed.includes(model)}
                onChange={(event) =>
                  onConfirm(event.target.checked ? [...confirmed, model] : confirmed.filter((each) => each !== model))
                }
              />
            )}
            <span className="min-w-0 flex-1 break-all">{model}</span>
            <span className="text-muted">
              {t(`carry.costs.change.${change}`)}
              {usual && ` · ${t('carry.costs.usual', { price: shortCost(usual) })}`}
            </span>
            <span>
              {[old && shortCost(old), cost && change !== 'same' && shortCost(cost)].filter(Boolean).join(' → ')}
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}
