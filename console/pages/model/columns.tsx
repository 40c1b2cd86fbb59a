import type { Price, PricedModel } from '../../../contract/api/price.ts'
import type { Column } from '../../components/data-table/types.ts'
import { Status } from '../../components/ui/badge.tsx'
import type { Text } from '../../lib/text.ts'
import { hasOutput, isByToken, kindOf, kindText, priceNumber, priceText, unitPriceText } from './price-parts.tsx'

/** The columns of the list. Prices are per million tokens, unless the cell names another unit. */
export function modelColumns(t: Text): Column<PricedModel>[] {
  return [
    {
      id: 'model',
      header: t('model.name'),
      cell: ({ model }) => (
        <span className="font-mono text-xs [overflow-wrap:anywhere] whitespace-normal">{model}</span>
      ),
      value: ({ model }) => model,
      sortable: true,
      required: true,
      card: 'title',
      skeleton: 'w-40',
    },
    {
      id: 'kind',
      header: t('model.kind'),
      cell: (row) => kindText(kindOf(row), t),
      value: (row) => kindText(kindOf(row), t),
      sortable: true,
      card: 'badge',
      skeleton: 'w-16',
    },
    rate(t, 'input', t('model.rate.input'), ({ rates }) => rates.input),
    rate(t, 'cached', t('model.rate.cached_input'), ({ rates }) => rates.cached_input),
    rate(t, 'output', t('model.rate.output'), ({ rates }) => rates.output),
  ]
}

/** A column with the lowest price of one kind, over the channels that serve the model. */
function rate(t: Text, id: string, header: string, of: (price: Price) => number | undefined): Column<PricedModel> {
  const from = (text: string, differs: boolean) => (differs ? t('model.from', { price: text }) : text)
  const least = (row: PricedModel): { quota: number; differs: boolean } | undefined => {
    if (id === 'output' && !hasOutput(row)) return undefined
    const known = row.prices.filter(isByToken).flatMap((price) => of(price) ?? [])
    const quota = known.length === 0 ? undefined : Math.min(...known)
    return quota === undefined ? undefined : { quota, differs: row.prices.some((price) => of(price) !== quota) }
  }
  const text = (row: PricedModel): string => {
    const price = least(row)
    if (price) return from(priceText(price.quota), price.differs)
    const [first] = row.prices
    // Charges that are not per token are shown in the first price column.
    return first && id === 'input' ? from(unitPriceText(first, t), row.prices.length > 1) : ''
  }
  return {
    id,
    header,
    cell: (row) =>
      row.prices.length === 0 && id === 'input' ? <Status color="red">{t('model.unpriced')}</Status> : text(row),
    value: (row) => {
      const price = least(row)
      return price && priceNumber(price.quota)
    },
    exported: (row) => (least(row) ? undefined : text(row)),
    sortable: true,
    align: 'end',
    skeleton: 'w-14',
  }
}
