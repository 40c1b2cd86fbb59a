import { Combobox } from '@base-ui/react/combobox'
import { useQuery } from '@tanstack/react-query'
import { Check } from 'lucide-react'
import { useMemo } from 'react'
import type { ModelFacts } from '../../../contract/api/model.ts'
import type { Price } from '../../../contract/api/price.ts'
import { familyOf } from '../../../contract/model-families.ts'
import { ModelMark } from '../../components/provider-mark.tsx'
import { inputClass } from '../../components/ui/input.tsx'
import type { Trigger } from '../../components/ui/on-demand.tsx'
import { pricesQuery } from '../../lib/model-queries.ts'
import { shortPriceText, tokensText } from '../../lib/price-text.ts'
import { useClassicServer } from '../../lib/status.ts'
import { type Text, useText } from '../../lib/text.ts'
import { useFacts } from './lanes.ts'

export interface ModelListProps {
  label: string
  /** The button that opens the list. */
  trigger: Trigger
  models: readonly string[]
  value: string | undefined
  onChange(model: string): void
}

interface Item {
  model: string
  /** The text that the search is matched against. */
  words: string
  /** Context and price. */
  about: string
}

/** The maximum number of models shown at once. The search finds the others. */
const mostShown = 200

const itemClass =
  'grid min-h-9 cursor-default grid-cols-[auto_1fr_1rem] items-center gap-2.5 rounded-md px-2 py-1 text-sm outline-none select-none data-highlighted:bg-active max-sm:min-h-11'

function priceOf(price: Price | undefined, t: Text): string {
  if (!price) return ''
  const { unit, rates } = price
  if (unit !== 'tokens' || (rates.input === 0 && rates.output === 0)) return ''
  return t('playground.pick.price', { input: shortPriceText(rates.input), output: shortPriceText(rates.output) })
}

function aboutOf(facts: ModelFacts | undefined, price: Price | undefined, t: Text): string {
  const context =
    facts?.context === undefined ? '' : t('playground.pick.context', { tokens: tokensText(facts.context) })
  return [context, priceOf(price, t)].filter((part) => part !== '').join(' · ')
}

/** The list of models with its button. The component is loaded when a list is first opened, so it starts open. */
export function ModelList({ label, trigger, models, value, onChange }: ModelListProps) {
  const t = useText()
  const facts = useFacts()
  const classic = useClassicServer()
  const prices = useQuery({ ...pricesQuery(undefined), enabled: !classic, retry: false }).data
  const items = useMemo(() => {
    const priced = new Map(prices?.models.map((row) => [row.model, row.prices[0]]))
    return models.map((model): Item => {
      const known = facts.get(model)
      const words = `${model} ${familyOf(model).maker} ${known?.name ?? ''}`
      return { model, words, about: aboutOf(known, priced.get(model), t) }
    })
  }, [models, facts, prices, t])
  return (
    <Combobox.Root
      defaultOpen
      items={items}
      limit={mostShown}
      value={items.find(({ model }) => model === value) ?? null}
      onValueChange={(next: Item | null) => next && onChange(next.model)}
      itemToStringLabel={({ words }: Item) => words}
      isItemEqualToValue={(a: Item, b: Item) => a.model === b.model}
      autoHighlight
    >
      <Combobox.Trigger render={trigger} />
      <Combobox.Portal>
        <Combobox.Positioner align="start" sideOffset={4} className="z-50 outline-none">
          <Combobox.Popup
            aria-label={label}
            className="ui-popup flex max-h-[min(var(--available-height),26rem)] w-[min(26rem,calc(100vw-1rem))] min-w-(--anchor-width) flex-col p-1"
          >
            <div className="p-1">
              <Combobox.Input
                aria-label={t('playground.pick.search')}
                placeholder={t('playground.pick.search')}
                className={inputClass}
              />
            </div>
            <Combobox.Empty className="text-sm text-muted">
              <p className="px-2 py-1.5">{t('form.noResults')}</p>
            </Combobox.Empty>
            <Combobox.List aria-label={label} className="min-h-0 overflow-y-auto overscroll-contain outline-none">
              {(item: Item) => (
                <Combobox.Item key={item.model} value={item} data-model={item.model} className={itemClass}>
                  <ModelMark model={item.model} />
                  <span className="min-w-0">
                    <span className="block break-words">{item.model}</span>
                    {item.about !== '' && <span className="num block text-xs text-muted">{item.about}</span>}
                  </span>
                  <Combobox.ItemIndicator>
                    <Check className="size-4" />
                  </Combobox.ItemIndicator>
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  )
}
