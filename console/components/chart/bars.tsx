import { scaleBand, scaleLinear } from 'd3-scale'
import { stack, stackOffsetDiverging } from 'd3-shape'
import { type KeyboardEvent, useId, useState } from 'react'
import { Hatch } from './hatch.tsx'
import { type ChartData, type FormatValue, fillOf, markOf, patternedOf } from './types.ts'
import { type Range, useRangeDrag } from './use-range-drag.ts'
import { useWidth } from './use-width.ts'

interface BarsProps extends ChartData {
  format: FormatValue
  /** Height in pixels. */
  height?: number
  /** Called when a bar is chosen by click or Enter. */
  onPick?: (index: number) => void
  /** Called when neighbouring bars are chosen: by dragging over them, or with Shift, the arrow keys and Enter. */
  onRange?: (range: Range) => void
  /** Describes the chart to screen readers. */
  summary: string
}

const space = { top: 8, right: 0, bottom: 22, left: 52 }

/** Half the width of a letter in the labels under the bars, in pixels. A label that does not fit is not drawn. */
const halfLetter = 3.2
/**
 * The minimum distance between the centres of two labels (`labelStep`), and the minimum gap between the ends of two
 * labels (`labelGap`), in pixels.
 */
const labelStep = 64
const labelGap = 12
/** Space between two grid lines. */
const tickGap = 21

/** The width of the space to the left of the bars, in pixels. The longest label of the vertical axis fits into it. */
function leftOf(labels: readonly string[]): number {
  return Math.max(space.left, ...labels.map((label) => label.length * 2 * halfLetter + labelGap))
}

/**
 * The bars, with one layer for each series, and the range of the axis. Negative values, such as losses, are stacked
 * below zero.
 */
function stacked(labels: ChartData['labels'], series: ChartData['series']) {
  const rows = labels.map((_, index) => Object.fromEntries(series.map((each) => [each.id, each.values[index] ?? 0])))
  const layers = stack<Record<string, number>>()
    .keys(series.map((each) => each.id))
    .offset(stackOffsetDiverging)(rows)
  const ends = layers.flat(2)
  const [bottom, top] = [Math.min(0, ...ends), Math.max(0, ...ends)]
  return { layers, domain: [bottom, bottom === top ? 1e-9 : top] }
}

/** Stacked bars along an axis, with negative values below it. The arrow keys move between bars, and Enter picks one. */
export function Bars({ labels, series, format, height = 220, onPick, onRange, summary }: BarsProps) {
  const [box, width] = useWidth<HTMLDivElement>()
  const [at, setAt] = useState<number>()
  const hatch = useId()
  const patterned = patternedOf(series)
  const last = labels.length - 1
  const { layers, domain } = stacked(labels, series)
  const ticks = Math.min(4, Math.floor((height - space.bottom - space.top) / tickGap))
  const y = scaleLinear(domain, [height - space.bottom, space.top]).nice(ticks)
  const left = leftOf(y.ticks(ticks).map(format))
  const x = scaleBand(
    labels.map((_, index) => index),
    [left, Math.max(left + 1, width - space.right)],
  ).padding(0.22)
  const place = (index: number) => Math.max(0, Math.min(last, index))
  const { range, setRange, stop, pointer } = useRangeDrag((clientX) => {
    const from = box.current?.getBoundingClientRect().left ?? 0
    return place(Math.floor((clientX - from - left) / x.step()))
  }, onRange)
  const keys = { at, setAt, range, setRange, stop, place, onPick, onRange }
  const middle = (index: number) => (x(index) ?? 0) + x.bandwidth() / 2
  const labelRoom = Math.max(labelStep, ...labels.map((label) => label.length * 2 * halfLetter + labelGap))
  const every = Math.max(1, Math.ceil((labels.length * labelRoom) / Math.max(1, width - left)))
  return (
    <div ref={box} className="relative" onPointerLeave={() => setAt(undefined)}>
      <svg
        role="img"
        aria-label={summary}
        width={width}
        height={height}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the values of the chart must be reachable by the keyboard
        tabIndex={0}
        className={`block max-w-full rounded-sm ${onRange ? 'touch-pan-y select-none' : ''}`}
        onBlur={() => {
          setAt(undefined)
          stop()
        }}
        onKeyDown={(event) => onBarKey(event, keys)}
        {...pointer}
      >
        {range && (
          <rect
            data-range
            x={(x(range.from) ?? 0) - (x.step() - x.bandwidth()) / 2}
            width={x.step() * (range.to - range.from + 1)}
            y={0}
            height={height - space.bottom}
            className="fill-accent"
            opacity={0.14}
          />
        )}
        {y.ticks(ticks).map((tick) => (
          <g key={tick} transform={`translate(0 ${y(tick)})`}>
            <line x1={left} x2={width} className="stroke-line" strokeDasharray={tick === 0 ? undefined : '2 3'} />
            <text x={left - 8} dy="0.32em" textAnchor="end" className="num fill-muted text-[11px]">
              {format(tick)}
            </text>
          </g>
        ))}
        {patterned !== undefined && <Hatch id={hatch} />}
        {layers.map((layer, nth) => (
          <g key={layer.key} className={fillOf(series[nth]?.color, nth)}>
            {layer.map(([from, to], index) => {
              const place = { x: x(index), width: x.bandwidth(), y: y(to), height: Math.max(0, y(from) - y(to)) }
              return (
                // biome-ignore lint/suspicious/noArrayIndexKey: a bar is identified by its position on the axis
                <g key={index} opacity={isLit(index, at, range) ? 1 : 0.45}>
                  <rect {...place} rx={1} />
                  {layer.key === patterned && place.height > 0 && (
                    <rect {...place} style={{ fill: `url(#${hatch})` }} />
                  )}
                </g>
              )
            })}
          </g>
        ))}
        {labels.map((label, index) => (
          <g key={label}>
            {index % every === 0 && middle(index) + label.length * halfLetter <= width && (
              <text x={middle(index)} y={height - 6} textAnchor="middle" className="num fill-muted text-[11px]">
                {label}
              </text>
            )}
            {/* biome-ignore lint/a11y/noStaticElementInteractions: pressing Enter on the chart does the same */}
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
        <Tip
          labels={labels}
          series={series}
          format={format}
          range={range ?? { from: at, to: at }}
          left={x(at) ?? 0}
          right={width}
        />
      )}
    </div>
  )
}

const isLit = (index: number, at: number | undefined, range: Range | undefined) =>
  range ? index >= range.from && index <= range.to : at === undefined || at === index

interface BarKeys extends Pick<BarsProps, 'onPick' | 'onRange'> {
  at: number | undefined
  setAt(index: number): void
  range: Range | undefined
  setRange(range: Range | undefined): void
  stop(): void
  place(index: number): number
}

/** Arrow keys move from bar to bar; with Shift they select several. Enter confirms the selection, Escape clears it. */
function onBarKey(event: KeyboardEvent, keys: BarKeys): void {
  const { at, setAt, range, setRange, stop, place, onPick, onRange } = keys
  const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
  if (by !== 0) {
    const next = place((at ?? -by) + by)
    setAt(next)
    if (!event.shiftKey || !onRange || at === undefined) stop()
    else {
      // The fixed end of the selection is the end opposite the cursor.
      const fixed = range === undefined ? at : range.from === at ? range.to : range.from
      setRange({ from: Math.min(fixed, next), to: Math.max(fixed, next) })
    }
    event.preventDefault()
  }
  if (event.key === 'Escape' && range) {
    stop()
    event.stopPropagation()
  }
  if (event.key === 'Enter' && at !== undefined) {
    if (range) onRange?.(range)
    else onPick?.(at)
    stop()
  }
}

/** The values at the selected indexes. They are announced when the selection is moved with the keyboard. */
function Tip(props: ChartData & { format: FormatValue; range: Range; left: number; right: number }) {
  const { labels, series, format, range, left, right } = props
  const { from, to } = range
  const sumOf = (values: readonly number[]) => values.slice(from, to + 1).reduce((sum, value) => sum + value, 0)
  const shown = series.map((each, index) => ({ ...each, value: sumOf(each.values), index })).filter((it) => it.value)
  const total = shown.reduce((sum, each) => sum + each.value, 0)
  const side = left > right / 2 ? { right: right - left + 6 } : { left: left + 24 }
  return (
    <div
      role="status"
      className="pointer-events-none absolute top-2 z-10 min-w-36 rounded-md bg-raised px-2.5 py-2 text-xs shadow-overlay"
      style={side}
    >
      <p className="flex justify-between gap-4 font-medium">
        <span>{from === to ? labels[from] : `${labels[from]} – ${labels[to]}`}</span>
        <span className="num">{format(total)}</span>
      </p>
      {series.length > 1 &&
        shown.map((each) => (
          <p key={each.id} className="mt-1 flex items-center gap-1.5 text-muted">
            <span className={`size-2 shrink-0 rounded-[2px] ${markOf(each.color, each.index)}`} aria-hidden="true" />
            <span className="max-w-40 flex-1 truncate">{each.name}</span>
            <span className="num text-fg">{format(each.value)}</span>
          </p>
        ))}
    </div>
  )
}
