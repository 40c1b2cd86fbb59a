import { ChartColumn, ImageDown, Table } from 'lucide-react'
import { type ReactNode, useRef, useState } from 'react'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { ModelMark } from '../provider-mark.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { type ChartData, type FormatValue, markOf } from './types.ts'

interface FrameProps extends ChartData {
  title: string
  /** One sentence that says what the chart shows; screen readers read it instead of the picture. */
  summary: string
  /** Heading of the label column in the table. */
  labelHeading: string
  format: FormatValue
  /** Further buttons beside the title. */
  actions?: ReactNode
  /** Hides the legend on narrow screens, where it would take several lines. */
  short?: boolean
  children: ReactNode
}

/** Title and legend of a chart, and the switch to a table. */
export function ChartFrame(props: FrameProps) {
  const { title, summary, labels, series, labelHeading, format, actions, short = false, children } = props
  const t = useText()
  const [asTable, setAsTable] = useState(false)
  const figure = useRef<HTMLElement>(null)
  const save = async () => {
    const { savePicture } = await import('./chart-picture.ts')
    if (figure.current) await savePicture(figure.current)
  }
  return (
    <figure ref={figure} className="rounded-lg border border-line bg-surface" aria-label={title}>
      <figcaption className="flex min-h-11 flex-wrap items-center gap-x-4 gap-y-1 px-4 py-1.5">
        <span className="text-base font-medium">{title}</span>
        <Legend series={series} className={short ? 'max-sm:hidden' : ''} />
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
          children
        )}
      </div>
    </figure>
  )
}

function Legend({ series, className }: { series: ChartData['series']; className: string }) {
  if (series.length < 2) return null
  return (
    <ul className={`flex flex-wrap gap-x-3 gap-y-0.5 text-xs text-muted ${className}`}>
      {series.map((each, index) => (
        <li key={each.id} className="flex items-center gap-1.5">
          <span className={`size-2 rounded-[2px] ${markOf(each.color, index)}`} aria-hidden="true" />
          {each.model !== undefined && <ModelMark model={each.model} />}
          {each.name}
        </li>
      ))}
    </ul>
  )
}

function ValueTable(props: ChartData & { labelHeading: string; format: FormatValue; title: string }) {
  const { labels, series, labelHeading, format, title } = props
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
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
