import { ChartColumn, ImageDown, Table } from 'lucide-react'
import { type ReactNode, useRef, useState } from 'react'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { ModelMark } from '../provider-mark.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { type ChartData, type FormatValue, markOf, patternedOf, type Series } from './types.ts'

interface FrameProps extends ChartData {
  title: string
  /** One sentence that says what the chart shows. Screen readers read it instead of the chart. */
  summary: string
  /** Heading of the label column in the table. */
  labelHeading: string
  format: FormatValue
  /** Further buttons beside the title. */
  actions?: ReactNode
  /** Hides the legend on narrow screens, where it would take several lines. */
  short?: boolean
  /** Draws the chart with the series that the legend has not hidden. */
  children(shown: ChartData['series']): ReactNode
}

/** Title and legend of a chart, and the switch to a table. */
export function ChartFrame(props: FrameProps) {
  const { title, summary, labels, series, labelHeading, format, actions, short = false, children } = props
  const t = useText()
  const [asTable, setAsTable] = useState(false)
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const figure = useRef<HTMLElement>(null)
  // A hidden series stays in the list without values, so that the colours of the others do not change.
  const shown = series.map((each) => (hidden.has(each.id) ? { ...each, values: [] } : each))
  const toggle = (id: string) => {
    const next = new Set(hidden)
    if (!next.delete(id)) next.add(id)
    setHidden(next)
  }
  const save = async () => {
    const { savePicture } = await import('./chart-picture.ts')
    if (figure.current) await savePicture(figure.current)
  }
  return (
    <figure ref={figure} className="rounded-lg border border-line bg-surface" aria-label={title}>
      <figcaption className="flex min-h-11 flex-wrap items-center gap-x-4 gap-y-1 px-4 py-1.5">
        <span className="text-base font-medium">{title}</span>
        <Legend series={shown} hidden={hidden} onToggle={toggle} className={short ? 'max-sm:hidden' : ''} />
        <span className="ml-auto flex items-center gap-1">
          {actions}
          {!asTable && (
            <IconButton
              label={t('chart.asPng')}
              icon={<ImageDown />}
              onClick={() => void save().catch(() => toast.error(t('chart.asPng.failed')))}
            />
          )}
          <IconButton
            label={t(asTable ? 'chart.asChart' : 'chart.asTable')}
            icon={asTable ? <ChartColumn /> : <Table />}
            aria-pressed={asTable}
            onClick={() => setAsTable(!asTable)}
          />
        </span>
      </figcaption>
      <p className="sr-only">{summary}</p>
      <div className="px-4 pb-4">
        {asTable ? (
          <ValueTable labels={labels} series={series} labelHeading={labelHeading} format={format} title={title} />
        ) : (
          children(shown)
        )}
      </div>
    </figure>
  )
}

interface LegendProps {
  series: readonly Series[]
  hidden: ReadonlySet<string>
  onToggle(id: string): void
  className: string
}

/** The names of the series. Each name is a switch that shows or hides its series. */
function Legend({ series, hidden, onToggle, className }: LegendProps) {
  const t = useText()
  if (series.length < 2) return null
  const patterned = patternedOf(series)
  return (
    <ul className={`flex flex-wrap gap-x-1 text-xs text-muted ${className}`}>
      {series.map((each, index) => {
        const isHidden = hidden.has(each.id)
        return (
          <li key={each.id} data-hidden={isHidden || undefined}>
            <button
              type="button"
              aria-pressed={!isHidden}
              title={t(isHidden ? 'chart.show' : 'chart.hide', { name: each.name })}
              onClick={() => onToggle(each.id)}
              className={`flex min-h-6 items-center gap-1.5 rounded-sm px-1 hover:bg-active hover:text-fg ${isHidden ? 'line-through' : ''}`}
            >
              <span
                className={`size-2 rounded-[2px] ${isHidden ? 'border border-edge' : markOf(each.color, index)} ${each.id === patterned ? 'hatched' : ''}`}
                aria-hidden="true"
              />
              {each.model !== undefined && <ModelMark model={each.model} />}
              {each.name}
            </button>
          </li>
        )
      })}
    </ul>
  )
}

function ValueTable(props: ChartData & { labelHeading: string; format: FormatValue; title: string }) {
  const { labels, series, labelHeading, format, title } = props
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to reach a scrollable region
    <section className="max-h-72 overflow-auto" tabIndex={0} aria-label={title}>
      <table className="w-full text-sm">
        <thead className="text-muted">
          <tr>
            <th scope="col" className="py-1 pr-4 text-start font-medium">
              {labelHeading}
            </th>
            {series.map((each) => (
              <th key={each.id} scope="col" className="py-1 pl-4 text-end font-medium">
                {each.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="num">
          {labels.map((label, index) => (
            <tr key={label} className="border-t border-line">
              <th scope="row" className="py-1 pr-4 text-start font-normal whitespace-nowrap">
                {label}
              </th>
              {series.map((each) => (
                <td key={each.id} className="py-1 pl-4 text-end">
                  {format(each.values[index] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
