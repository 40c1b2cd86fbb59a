import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Price, PriceList, Rates, SpecialRate } from '../../../contract/api/price.ts'
import { chatSnippets } from '../../components/chat-snippets.ts'
import { CodeTabs } from '../../components/code-tabs.tsx'
import { RecentUse } from '../../components/recent-use.tsx'
import { Badge } from '../../components/ui/badge.tsx'
import { Banner } from '../../components/ui/banner.tsx'
import { buttonClass } from '../../components/ui/button.tsx'
import { CopyField } from '../../components/ui/copy-field.tsx'
import { Drawer } from '../../components/ui/drawer.tsx'
import { EmptyState } from '../../components/ui/states.tsx'
import { formatCount } from '../../lib/format.ts'
import { priceText } from '../../lib/price-text.ts'
import { useSessionUser } from '../../lib/session.ts'
import { useServerStatus } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { type Line as FactLine, factLines, figureLines } from './facts-parts.tsx'
import {
  canTry,
  hasOutput,
  inputRates,
  isByToken,
  kindOf,
  kindText,
  outputRates,
  unitPriceText,
} from './price-parts.tsx'
import type { CatalogueRow } from './rows.ts'

interface ModelPeekProps {
  /** Undefined if the group cannot call the model. */
  row: CatalogueRow | undefined
  name: string
  list: Pick<PriceList, 'group' | 'ratio'>
  onClose(): void
}

/** The drawer of a model: all its prices, the cost of an example call, and how the model was used. */
export function ModelPeek({ row, name, list, onClose }: ModelPeekProps) {
  const t = useText()
  const user = useSessionUser()
  const kind = row && kindOf(row)
  const tryIt =
    row && user && canTry(row) ? (
      <Link to="/playground" search={{ model: name }} className={buttonClass({ look: 'primary' })}>
        {t('model.try')}
      </Link>
    ) : undefined
  return (
    <Drawer open onClose={onClose} title={name} aside={kind && <Badge>{kindText(kind, t)}</Badge>} footer={tryIt}>
      {row ? <Details row={row} list={list} /> : <EmptyState title={t('model.gone', { group: list.group })} />}
    </Drawer>
  )
}

function Details({ row, list }: { row: CatalogueRow; list: ModelPeekProps['list'] }) {
  const t = useText()
  const user = useSessionUser()
  // Renders again when the server's price format changes.
  useServerStatus()
  const { model, prices } = row
  return (
    <>
      <CopyField label={t('model.name')} value={model} />
      {row.unpriced && (
        <Banner kind="warn">{t(prices.length === 0 ? 'model.unpriced.text' : 'model.unpriced.some')}</Banner>
      )}
      {prices.length > 1 && <p className="text-sm text-muted">{t('model.several')}</p>}
      {prices.map((price) => (
        <PriceCard key={JSON.stringify(price)} price={price} row={row} />
      ))}
      {list.ratio !== 1 && (
        <p className="text-sm text-muted">{t('model.groupRatio', { group: list.group, ratio: String(list.ratio) })}</p>
      )}
      <Lines title={t('model.facts')} lines={factLines(row, t)} />
      <Lines title={t('model.figures')} lines={figureLines(row.figures, t)} />
      {canTry(row) && (
        <section aria-label={t('model.code')}>
          <h3 className="mb-1 text-sm font-medium">{t('model.code')}</h3>
          <CodeTabs label={t('model.code')} snippets={chatSnippets('sk-…', exampleCall(model))} />
        </section>
      )}
      {row.renamed ? (
        <p className="text-sm break-words text-muted">
          {row.answered_by ? t('model.answeredBy', { models: row.answered_by.join(', ') }) : t('model.renamed')}
        </p>
      ) : user === undefined ? null : (
        <>
          <RecentUse filter={{ model_name: model }} />
          <p className="text-sm">
            <Link to="/log" search={{ model }} className="text-link hover:underline">
              {t('model.logs')}
            </Link>
          </p>
        </>
      )}
    </>
  )
}

const exampleCall = (model: string) => ({ model, messages: [{ role: 'user', content: 'Say hello.' }] })

/** Facts or figures in a box. Renders nothing if there are none. */
function Lines({ title, lines }: { title: string; lines: readonly FactLine[] }) {
  if (lines.length === 0) return null
  return (
    <section aria-label={title} className="rounded-lg border border-line p-3">
      <h3 className="text-sm font-medium">{title}</h3>
      <dl className="mt-2 grid grid-cols-[1fr_auto] gap-x-3 gap-y-1.5 text-sm">
        {lines.map(({ id, label, text }) => (
          <Line key={id} name={label}>
            {text}
          </Line>
        ))}
      </dl>
    </section>
  )
}

/** The example call whose price is shown. */
const example = { input: 10_000, output: 1000 }

function PriceCard({ price, row }: { price: Price; row: CatalogueRow }) {
  const t = useText()
  const { rates, tiers, call, minimum_seconds } = price
  const byToken = isByToken(price)
  const output = hasOutput(row)
  const cost = (rates.input * example.input + (output ? rates.output * example.output : 0)) / 1e6 + call
  const counts = { input: formatCount(example.input), output: formatCount(example.output), price: priceText(cost) }
  return (
    <section aria-label={t('model.price')} className="rounded-lg border border-line p-3">
      <h3 className="text-sm font-medium">{byToken ? t('model.price.tokens') : unitPriceText(price, t)}</h3>
      {byToken && (
        <>
          <RateList rates={rates} output={output} />
          {tiers.map((tier) => (
            <div key={tier.above} className="mt-3 border-t border-line pt-3">
              <h4 className="text-sm font-medium">{t('model.above', { count: formatCount(tier.above) })}</h4>
              <RateList rates={tier.rates} output={output} />
            </div>
          ))}
          {/* No example is shown for models that generate images or speech. Their output is more expensive than text, and an example length would mean little. */}
          {rates.image_output === undefined && rates.audio_output === undefined && (
            <p className="mt-3 border-t border-line pt-3 text-sm text-muted">
              {t(output ? 'model.example' : 'model.example.input', counts)}
            </p>
          )}
        </>
      )}
      {call > 0 && (byToken || rates.input > 0) && (
        <p className="mt-2 text-sm">{t('model.callToo', { price: priceText(call) })}</p>
      )}
      {price.unit === 'image' && <p className="mt-1 text-sm text-muted">{t('model.image.text')}</p>}
      {minimum_seconds > 0 && (
        <p className="mt-1 text-sm text-muted">{t('model.minimum', { seconds: minimum_seconds })}</p>
      )}
    </section>
  )
}

function RateList({ rates, output }: { rates: Rates; output: boolean }) {
  const t = useText()
  const special = (names: readonly SpecialRate[]) =>
    names.map((name) => {
      const quota = rates[name]
      return quota === undefined ? null : (
        <Line key={name} name={t(`model.rate.${name}`)} inner>
          {priceText(quota)}
        </Line>
      )
    })
  return (
    <dl className="mt-2 grid grid-cols-[1fr_auto] gap-y-1.5 text-sm">
      <Line name={t('model.rate.input')}>{priceText(rates.input)}</Line>
      {special(inputRates)}
      {output && <Line name={t('model.rate.output')}>{priceText(rates.output)}</Line>}
      {special(outputRates)}
    </dl>
  )
}

/** A price line. `inner` means that the price is for a part of what the previous line covers. */
function Line({ name, inner = false, children }: { name: string; inner?: boolean; children: ReactNode }) {
  return (
    <>
      <dt className={inner ? 'pl-4 text-muted' : ''}>{name}</dt>
      <dd className="num text-end">{children}</dd>
    </>
  )
}
