import { scaleBand, scaleLinear } from 'd3-scale'
import { stack } from 'd3-shape'
import { useState } from 'react'
import { type ChartData, colorOf, type FormatValue, seriesFill, seriesMark } from './types.ts'
import { useWidth } from './use-width.ts'

interface BarsProps extends ChartData {
  format: FormatValue
  /** Pixels. */
  height?: number
  /** A bar was chosen by click or Enter. */
  onPick?: (index: number) => void
  /** What a bar is, for those who do not see it; without it labels and total. */
  summary: string
}

const space = { top: 8, right: 0, bottom: 22, left: 52 }

/** Half the width of a letter under the bars, in pixels; a label that would be cut off is left out. */
const halfLetter = 3.2

/** Stacked bars along an axis. Arrow keys go from bar to bar; Enter picks one. */
export function Bars({ labels, series, format, height = 220, onPick, summary }: BarsProps) {
  const [box, width] = useWidth<HTMLDivElement>()
  const [at, setAt] = useState<number>()
  const rows = labels.map((_, index) => Object.fromEntries(series.map((each) => [each.id, each.values[index] ?? 0])))
  const layers = stack<Record<string, number>>().keys(series.map((each) => each.id))(rows)
  const top = Math.max(1e-9, ...layers.flatMap((layer) => layer.map((part) => part[1])))
  const x = scaleBand(
    labels.map((_, index) => index),
    [space.left, Math.max(space.left + 1, width - space.right)],
  ).padding(0.22)
  const y = scaleLinear([0, top], [height - space.bottom, space.top]).nice(4)
  const move = (by: number) => setAt((before) => Math.max(0, Math.min(labels.length - 1, (before ?? -by) + by)))
  const middle = (index: number) => (x(index) ?? 0) + x.bandwidth() / 2
  const every = Math.max(1, Math.ceil((labels.length * 64) / Math.max(1, width - space.left)))
  return (
    <div ref={box} className="relative" onPointerLeave={() => setAt(undefined)}>
      <svg
        role="img"
        aria-label={summary}
        width={width}
        height={height}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the values of a picture must be reachable by the keyboard
        tabIndex={0}
        className="block max-w-full rounded-sm"
        onBlur={() => setAt(undefined)}
        onKeyDown={(event) => {
          if (event.key === 'ArrowRight') move(1)
          if (event.key === 'ArrowLeft') move(-1)
          if (event.key === 'Enter' && at !== undefined) onPick?.(at)
        }}
      >
        {y.ticks(4).map((tick) => (
          <g key={tick} transform={`translate(0 ${y(tick)})`}>
            <line x1={space.left} x2={width} className="stroke-line" strokeDasharray={tick === 0 ? undefined : '2 3'} />
            <text x={space.left - 8} dy="0.32em" textAnchor="end" className="num fill-muted text-[11px]">
              {format(tick)}
            </text>
          </g>
        ))}
        {layers.map((layer, place) => (
          <g key={layer.key} className={colorOf(seriesFill, place)}>
            {layer.map(([from, to], index) => (
              <rect
                // biome-ignore lint/suspicious/noArrayIndexKey: places along the axis
                key={index}
                x={x(index)}
                width={x.bandwidth()}
                y={y(to)}
                height={Math.max(0, y(from) - y(to))}
                rx={1}
                opacity={at === undefined || at === index ? 1 : 0.45}
              />
            ))}
          </g>
        ))}
        {labels.map((label, index) => (
          <g key={label}>
            {index % every === 0 && middle(index) + label.length * halfLetter <= width && (
              <text x={middle(index)} y={height - 6} textAnchor="middle" className="num fill-muted text-[11px]">
                {label}
              </text>
            )}
            {/* biome-ignore lint/a11y/noStaticElementInteractions: Enter on the picture does the same */}
            <rect
              x={(x(index) ?? 0) - (x.step() - x.bandwidth()) / 2}
              width={x.step()}
              y={0}
              height={height - space.bottom}
              fill="transparent"
              className={onPick ? 'cursor-pointer' : ''}
              onPointerEnter={() => setAt(index)}
              onClick={() => onPick?.(index)}
            />
          </g>
        ))}
      </svg>
      {at !== undefined && (
        <Tip labels={labels} series={series} format={format} at={at} left={x(at) ?? 0} right={width} />
      )}
    </div>
  )
}

/** Values at one place; announced when the keyboard goes there. */
function Tip(props: ChartData & { format: FormatValue; at: number; left: number; right: number }) {
  const { labels, series, format, at, left, right } = props
  const shown = series.map((each, index) => ({ ...each, value: each.values[at] ?? 0, index })).filter((it) => it.value)
  const total = shown.reduce((sum, each) => sum + each.value, 0)
  const side = left > right / 2 ? { right: right - left + 6 } : { left: left + 24 }
  return (
    <div
      role="status"
      className="pointer-events-none absolute top-2 z-10 min-w-36 rounded-md bg-raised px-2.5 py-2 text-xs shadow-overlay"
      style={side}
    >
      <p className="flex justify-between gap-4 font-medium">
        <span>{labels[at]}</span>
        <span className="num">{format(total)}</span>
      </p>
      {series.length > 1 &&
        shown.map((each) => (
          <p key={each.id} className="mt-1 flex items-center gap-1.5 text-muted">
            <span className={`size-2 shrink-0 rounded-[2px] ${colorOf(seriesMark, each.index)}`} aria-hidden="true" />
            <span className="max-w-40 flex-1 truncate">{each.name}</span>
            <span className="num text-fg">{format(each.value)}</span>
          </p>
        ))}
    </div>
  )
}
