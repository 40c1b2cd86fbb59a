import { scaleLinear } from 'd3-scale'
import { area, curveMonotoneX, line } from 'd3-shape'

const width = 120
const height = 28

/** A small line chart without axes, shown beside a number. `summary` describes it to screen readers. */
export function Spark({ values, summary }: { values: readonly number[]; summary: string }) {
  const x = scaleLinear([0, Math.max(1, values.length - 1)], [1, width - 1])
  const [bottom, top] = [Math.min(0, ...values), Math.max(0, ...values)]
  const y = scaleLinear([bottom, bottom === top ? 1e-9 : top], [height - 2, 2])
  const points = [...values]
  const edge = line<number>(
    (_, index) => x(index),
    (value) => y(value),
  ).curve(curveMonotoneX)
  const shape = area<number>(
    (_, index) => x(index),
    bottom < 0 ? y(0) : height,
    (value) => y(value),
  ).curve(curveMonotoneX)
  return (
    <svg
      role="img"
      aria-label={summary}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      className="h-7 w-full"
    >
      <path d={shape(points) ?? ''} className="fill-chart-1" opacity={0.12} />
      <path
        d={edge(points) ?? ''}
        className="fill-none stroke-chart-1"
        strokeWidth={1.5}
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  )
}
