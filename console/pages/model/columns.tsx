import type { Price } from '../../../contract/api/price.ts'
import type { Column } from '../../components/data-table/types.ts'
import { ModelMark } from '../../components/provider-mark.tsx'
import { Status } from '../../components/ui/badge.tsx'
import { formatSum } from '../../lib/format.ts'
import { priceText, shortPriceText, tokensText } from '../../lib/price-text.ts'
import type { Text } from '../../lib/text.ts'
import { firstByteText, modalitiesText, speedText, uptimeText } from './facts-parts.tsx'
import { hasOutput, isByToken, kindOf, kindText, priceNumber, unitPriceText } from './price-parts.tsx'
import type { CatalogueRow } from './rows.ts'

type ModelColumn = Column<CatalogueRow>

/** Which columns the server has data for. */
interface Known {
  facts: boolean
  figures: boolean
}

/** The columns of the list. Prices are per million tokens, unless the cell names another unit. */
export function modelColumns(t: Text, { facts, figures }: Known): ModelColumn[] {
  return [
    {
      id: 'model',
      header: t('model.name'),
      cell: ({ model, facts }) => (
        <span className="inline-flex items-center gap-2" title={facts?.name}>
          <ModelMark model={model} />
          <span className="font-mono text-xs [overflow-wrap:anywhere] whitespace-normal">{model}</span>
        </span>
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
    ...(facts ? [number('context', t('model.context'), ({ facts }) => facts?.context, tokensText)] : []),
    rate(t, 'input', t('model.rate.input'), ({ rates }) => rates.input),
    rate(t, 'cached', t('model.rate.cached_input'), ({ rates }) => rates.cached_input),
    rate(t, 'output', t('model.rate.output'), ({ rates }) => rates.output),
    ...(figures ? figureColumns(t) : []),
    ...(facts ? factColumns(t) : []),
  ]
}

/** Columns of measured figures. */
function figureColumns(t: Text): ModelColumn[] {
  return [
    number(
      'first_byte',
      t('model.firstByte'),
      ({ figures }) => figures?.first_byte,
      (ms) => firstByteText(ms, t),
    ),
    number(
      'speed',
      t('model.speed'),
      ({ figures }) => figures?.speed,
      (speed) => speedText(speed, t),
    ),
    number('uptime', t('model.uptime'), ({ figures }) => figures?.uptime, uptimeText),
    {
      ...number('spent', t('model.spent'), ({ figures }) => figures && priceNumber(figures.spent)),
      cell: ({ figures }) => (figures ? formatSum(figures.spent) : ''),
      hidden: true,
    },
  ]
}

/** Facts that people look up for one model rather than compare in a list. */
function factColumns(t: Text): ModelColumn[] {
  const text = (id: string, header: string, of: (row: CatalogueRow) => string): ModelColumn => ({
    id,
    header,
    cell: of,
    value: of,
    sortable: true,
    hidden: true,
    skeleton: 'w-20',
  })
  return [
    { ...number('max_output', t('model.maxOutput'), ({ facts }) => facts?.output, tokensText), hidden: true },
    text('reads', t('model.reads'), ({ facts }) => modalitiesText(facts?.reads ?? [], t)),
    text('released', t('model.released'), ({ facts }) => facts?.released ?? ''),
    text('knowledge', t('model.knowledge'), ({ facts }) => facts?.knowledge ?? ''),
  ]
}

/** A column of numbers. A cell without a number is empty. */
function number(
  id: string,
  header: string,
  of: (row: CatalogueRow) => number | null | undefined,
  textOf: (value: number) => string = String,
): ModelColumn {
  const value = (row: CatalogueRow) => of(row) ?? undefined
  return {
    id,
    header,
    cell: (row) => {
      const found = value(row)
      return found === undefined ? '' : textOf(found)
    },
    value,
    sortable: true,
    align: 'end',
    skeleton: 'w-12',
  }
}

/** A column with a model's lowest price of one kind, across the channels that serve it. */
function rate(t: Text, id: string, header: string, of: (price: Price) => number | undefined): ModelColumn {
  const from = (text: string, differs: boolean) => (differs ? t('model.from', { price: text }) : text)
  const least = (row: CatalogueRow): { quota: number; differs: boolean } | undefined => {
    if (id === 'output' && !hasOutput(row)) return undefined
    const known = row.prices.filter(isByToken).flatMap((price) => of(price) ?? [])
    const quota = known.length === 0 ? undefined : Math.min(...known)
    return quota === undefined ? undefined : { quota, differs: row.prices.some((price) => of(price) !== quota) }
  }
  const other = (row: CatalogueRow): string => {
    const [first] = row.prices
    // Charges that are not per token are shown in the first price column.
    return first && id === 'input' ? from(unitPriceText(first, t), row.prices.length > 1) : ''
  }
  return {
    id,
    header,
    cell: (row) => {
      if (row.prices.length === 0 && id === 'input') return <Status color="red">{t('model.unpriced')}</Status>
      const price = least(row)
      if (!price) return other(row)
      const [short, exact] = [shortPriceText(price.quota), priceText(price.quota)]
      return <span title={short === exact ? undefined : exact}>{from(short, price.differs)}</span>
    },
    value: (row) => {
      const price = least(row)
      return price && priceNumber(price.quota)
    },
    exported: (row) => (least(row) ? undefined : other(row)),
    sortable: true,
    align: 'end',
    skeleton: 'w-14',
  }
}
