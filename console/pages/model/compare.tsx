import { X } from 'lucide-react'
import { ModelMark } from '../../components/provider-mark.tsx'
import { Dialog } from '../../components/ui/dialog.tsx'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { priceText } from '../../lib/price-text.ts'
import { useServerStatus } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { factLines, figureLines, type Line } from './facts-parts.tsx'
import { hasOutput, isByToken, kindOf, kindText, unitPriceText } from './price-parts.tsx'
import type { CatalogueRow } from './rows.ts'

interface CompareProps {
  rows: readonly CatalogueRow[]
  onRemove(model: string): void
  onClose(): void
}

/** Up to four models side by side. Lines for which no model has a value are omitted. */
export function CompareModels({ rows, onRemove, onClose }: CompareProps) {
  const t = useText()
  // Renders again when the server's price format changes.
  useServerStatus()
  const priceLines = (row: CatalogueRow): Line[] => {
    const [price] = row.prices
    const lines: Line[] = [{ id: 'kind', label: t('model.kind'), text: kindText(kindOf(row), t) }]
    if (!price) return lines
    if (!isByToken(price)) return [...lines, { id: 'input', label: t('model.price'), text: unitPriceText(price, t) }]
    const { input, cached_input, output } = price.rates
    lines.push({ id: 'in', label: t('model.rate.input'), text: priceText(input) })
    if (cached_input !== undefined)
      lines.push({ id: 'cached', label: t('model.rate.cached_input'), text: priceText(cached_input) })
    if (hasOutput(row)) lines.push({ id: 'out', label: t('model.rate.output'), text: priceText(output) })
    return lines
  }
  const columns = rows.map((row) => ({
    row,
    lines: new Map(
      [...priceLines(row), ...factLines(row, t), ...figureLines(row.figures, t)].map((line) => [line.id, line]),
    ),
  }))
  // The lines follow the order of the model with the most lines. Lines that it lacks come last.
  const longest = columns.toSorted((a, b) => b.lines.size - a.lines.size)
  const labels = new Map(longest.flatMap(({ lines }) => [...lines.values()]).map(({ id, label }) => [id, label]))
  return (
    <Dialog open onClose={onClose} title={t('model.compare.title')} text={t('model.compare.most')} width="large">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll the table */}
      <section className="-mx-5 overflow-x-auto px-5 pb-1" tabIndex={0} aria-label={t('model.compare.title')}>
        <table className="w-full text-sm">
          <thead>
            <tr className="align-top">
              <td />
              {columns.map(({ row: { model } }) => (
                <th key={model} scope="col" className="min-w-32 px-2 pb-2 text-start font-medium">
                  <span className="flex items-start gap-1.5">
                    <ModelMark model={model} />
                    <span className="flex-1 font-mono text-xs [overflow-wrap:anywhere]" data-verbatim>
                      {model}
                    </span>
                    {rows.length > 1 && (
                      <IconButton
                        label={t('model.compare.remove', { model })}
                        icon={<X />}
                        className="-my-1.5"
                        onClick={() => onRemove(model)}
                      />
                    )}
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {[...labels].map(([id, label]) => (
              <tr key={id} className="border-t border-line align-top">
                <th scope="row" className="py-1.5 pe-2 text-start font-normal text-muted">
                  {label}
                </th>
                {columns.map(({ row: { model }, lines }) => (
                  <td key={model} className="num px-2 py-1.5">
                    {lines.get(id)?.text ?? '–'}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </Dialog>
  )
}
