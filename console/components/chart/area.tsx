import { scaleLinear } from 'd3-scale'
import { area, curveMonotoneX, line } from 'd3-shape'
import type { FormatValue } from './types.ts'
import { useWidth } from './use-width.ts'

interface AreaProps {
  labels: readonly string[]
  values: readonly number[]
  format: FormatValue
  /** One sentence in place of the picture. */
  summary: string
  /** Pixels. */
  height?: number
}

const space = { top: 8, bottom: 22, left: 52 }

/** One series as a filled line, such as a cumulative sum. */
export function Area({ labels, values, format, summary, height = 220 }: AreaProps) {
  const [box, width] = useWidth<HTMLDivElement>()
  const x = scaleLinear([0, Math.max(1, values.length - 1)], [space.left, Math.max(space.left + 1, width - 4)])
  const y = scaleLinear([0, Math.max(1e-9, ...values)], [height - space.bottom, space.top]).nice(4)
  const points = [...values]
  const shape = area<number>(
    (_, index) => x(index),
    y(0),
    (value) => y(value),
  ).curve(curveMonotoneX)
  const edge = line<number>(
    (_, index) => x(index),
    (value) => y(value),
  ).curve(curveMonotoneX)
  const every = Math.max(1, Math.ceil((labels.length * 64) / Math.max(1, width - space.left)))
  return (
    <div ref={box}>
      <svg role="img" aria-label={summary} width={width} height={height} className="block">
        {y.ticks(4).map((tick) => (
          <g key={tick} transform={`translate(0 ${y(tick)})`}>
            <line x1={space.left} x2={width} className="stroke-line" strokeDasharray={tick === 0 ? undefined : '2 3'} />
            <text x={space.left - 8} dy="0.32em" textAnchor="end" className="num fill-muted text-[11px]">
              {format(tick)}
            </text>
          </g>
        ))}
        <path d={shape(points) ?? ''} className="fill-chart-1" opacity={0.14} />
        <path d={edge(points) ?? ''} className="fill-none stroke-chart-1" strokeWidth={1.75} />
        {labels.map(
          (label, index) =>
            index % every === 0 && (
              <text
                key={label}
                x={x(index)}
                y={height - 6}
                textAnchor={index === 0 ? 'start' : 'middle'}
                className="num fill-muted text-[11px]"
              >
                {label}
              </text>
            ),
        )}
      </svg>
    </div>
  )
}
