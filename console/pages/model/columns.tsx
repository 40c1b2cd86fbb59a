import type { Price, PricedModel } from '../../../contract/api/price.ts'
import type { Column } from '../../components/data-table/types.ts'
import { Status } from '../../components/ui/badge.tsx'
import type { Text } from '../../lib/text.ts'
import { isByToken, kindOf, kindText, priceNumber, priceText, unitPriceText } from './price-parts.tsx'

/** The columns of the list. Prices are those of a million tokens, unless the cell says what else they are for. */
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

/** A price of the cheapest channel; `of` = undefined where it is not one of its own. */
function rate(t: Text, id: string, header: string, of: (price: Price) => number | undefined): Column<PricedModel> {
  const shown = ({ prices }: PricedModel): { quota: number; differs: boolean } | string | undefined => {
    const [first] = prices
    if (!first) return undefined
    // All that is charged for stands in the first of the columns.
    if (!isByToken(first)) return id === 'input' ? unitPriceText(first, t) : undefined
    const quota = of(first)
    return quota === undefined ? undefined : { quota, differs: prices.some((price) => of(price) !== quota) }
  }
  return {
    id,
    header,
    cell: (row) => {
      if (row.prices.length === 0) return id === 'input' ? <Status color="red">{t('model.unpriced')}</Status> : ''
      const price = shown(row)
      if (price === undefined || typeof price === 'string') return price ?? ''
      const text = priceText(price.quota)
      return price.differs ? t('model.from', { price: text }) : text
    },
    value: (row) => {
      const price = shown(row)
      return typeof price === 'object' ? priceNumber(price.quota) : price
    },
    sortable: true,
    align: 'end',
    skeleton: 'w-14',
  }
}
