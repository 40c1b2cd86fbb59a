import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type Modality, modalities } from '../../../contract/api/model.ts'
import { familyOf, modelFamilies } from '../../../contract/model-families.ts'
import { FilterBar, type FilterSelectProps } from '../../components/data-table/filter-bar.tsx'
import { formatNumber, quotaPerUnit } from '../../lib/format.ts'
import { groupsQuery } from '../../lib/groups.ts'
import { shortPriceText } from '../../lib/price-text.ts'
import { type Text, useText } from '../../lib/text.ts'
import type { SetSearch } from '../../lib/use-url-state.ts'
import { isByToken, kindOf, kinds, kindText, priceNumber } from './price-parts.tsx'
import type { CatalogueRow } from './rows.ts'
import type { ModelSearch } from './search.ts'

const abilities = ['tools', 'reasoning', 'open_weights'] as const
const contexts = [32_000, 128_000, 200_000, 1_000_000]
/** Dollars for a million tokens. */
const priceSteps = [0.1, 0.5, 1, 3, 10]
const filterNames = ['kind', 'family', 'modality', 'ability', 'context', 'price'] as const

/** A search without any filter. */
export const noFilters = Object.fromEntries(filterNames.map((name) => [name, undefined])) as Pick<
  ModelSearch,
  (typeof filterNames)[number]
>

/** Whether any filter is set. */
export function isFiltered(search: ModelSearch): boolean {
  return filterNames.some((name) => search[name] !== undefined)
}

/** The lowest input price of a model for a million tokens, in the unit of the price column. */
function inputPrice({ prices }: CatalogueRow): number | undefined {
  const known = prices.filter(isByToken).map(({ rates }) => priceNumber(rates.input))
  return known.length === 0 ? undefined : Math.min(...known)
}

function hasModality({ facts }: CatalogueRow, wanted: string): boolean {
  const writes = wanted.startsWith('writes-')
  const modality = (writes ? wanted.slice('writes-'.length) : wanted) as Modality
  return (writes ? facts?.writes : facts?.reads)?.includes(modality) === true
}

/** Whether a model matches the search text and the filters. A filter excludes models for which the fact is unknown. */
export function passes(row: CatalogueRow, { q = '', ...search }: ModelSearch): boolean {
  const { facts, model } = row
  const text = `${model} ${facts?.name ?? ''}`.toLowerCase()
  const ability = abilities.find((each) => each === search.ability)
  const [context, price] = [Number(search.context), Number(search.price)]
  return (
    text.includes(q.toLowerCase()) &&
    (search.kind === undefined || kindOf(row) === search.kind) &&
    (search.family === undefined || familyOf(model).id === search.family) &&
    (search.modality === undefined || hasModality(row, search.modality)) &&
    (search.ability === undefined || (ability !== undefined && facts?.[ability] === true)) &&
    (search.context === undefined || (facts?.context ?? 0) >= context) &&
    (search.price === undefined || (inputPrice(row) ?? Number.POSITIVE_INFINITY) <= price)
  )
}

interface FiltersProps {
  search: ModelSearch
  setSearch: SetSearch<ModelSearch>
  all: readonly CatalogueRow[]
  admin: boolean
}

/** The filters of the catalogue. Filters for facts are offered only if facts are known. */
export function Filters({ search, setSearch, all, admin }: FiltersProps) {
  const t = useText()
  const groups = useQuery({ ...groupsQuery, enabled: admin }).data ?? []
  const there = useMemo(
    () => ({
      kinds: new Set(all.map(kindOf)),
      families: new Set(all.map(({ model }) => familyOf(model).id)),
      facts: all.some(({ facts }) => facts !== undefined),
      modalities: modalities.filter((each) => each !== 'text' && all.some((row) => hasModality(row, each))),
      written: modalities.filter((each) => each !== 'text' && all.some((row) => hasModality(row, `writes-${each}`))),
    }),
    [all],
  )
  const set = (name: keyof ModelSearch) => (value: string | undefined) => setSearch({ [name]: value, page: undefined })
  const active = filterNames.filter((name) => search[name] !== undefined).length
  const group = admin && search.group !== undefined ? 1 : 0
  const selects = [
    {
      label: t('model.family'),
      all: t('model.family.all'),
      value: search.family,
      choices: modelFamilies
        .filter(({ id }) => there.families.has(id))
        .map(({ id, name }) => ({ value: id, label: id === 'other' ? t('model.family.other') : name })),
      onChange: set('family'),
    },
    {
      label: t('model.kind'),
      all: t('model.kind.all'),
      value: search.kind,
      choices: kinds.filter((each) => there.kinds.has(each)).map((value) => ({ value, label: kindText(value, t) })),
      onChange: set('kind'),
    },
    ...(there.facts ? factSelects(search, there, set, t) : []),
    {
      label: t('model.maxPrice'),
      all: t('model.maxPrice.all'),
      value: search.price,
      choices: priceSteps.map((dollars) => ({
        value: String(priceNumber(dollars * quotaPerUnit())),
        label: t('model.maxPrice.most', { price: shortPriceText(dollars * quotaPerUnit()) }),
      })),
      onChange: set('price'),
    },
    ...(admin
      ? [
          {
            label: t('model.group'),
            all: t('model.group.own'),
            value: search.group,
            choices: groups.map((name) => ({ value: name, label: name })),
            onChange: set('group'),
          },
        ]
      : []),
  ]
  return (
    <FilterBar
      flows
      active={active + group}
      onClear={() => setSearch({ ...noFilters, group: undefined, page: undefined })}
      selects={selects.map((each) => ({ ...each, slim: true }))}
    />
  )
}

/** The filters about facts of models. */
function factSelects(
  search: ModelSearch,
  there: { modalities: readonly Modality[]; written: readonly Modality[] },
  set: (name: keyof ModelSearch) => (value: string | undefined) => void,
  t: Text,
): FilterSelectProps[] {
  return [
    {
      label: t('model.modality'),
      all: t('model.modality.all'),
      value: search.modality,
      choices: [
        ...there.modalities.map((each) => ({ value: each, label: t(`model.reads.${each}`) })),
        ...there.written.map((each) => ({ value: `writes-${each}`, label: t(`model.writes.${each}`) })),
      ],
      onChange: set('modality'),
    },
    {
      label: t('model.ability'),
      all: t('model.ability.all'),
      value: search.ability,
      choices: abilities.map((value) => ({ value, label: t(`model.ability.${value}`) })),
      onChange: set('ability'),
    },
    {
      label: t('model.context'),
      all: t('model.context.all'),
      value: search.context,
      choices: contexts.map((tokens) => ({
        value: String(tokens),
        label: t('model.context.least', { tokens: formatNumber(tokens) }),
      })),
      onChange: set('context'),
    },
  ]
}
