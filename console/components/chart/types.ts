import { type DotColor, dotMark } from '../ui/badge.tsx'

/** A series of a chart: its name, and one value for each label. */
export interface Series {
  id: string
  name: string
  values: readonly number[]
  /**
   * Set if the series has its own colour, such as the colour of a status. Otherwise the colour depends on the index.
   */
  color?: DotColor
  /** The model that the series is about. The legend shows the mark of its maker. */
  model?: string
}

/** Data that every chart accepts. */
export interface ChartData {
  /** Labels along the axis, such as days. */
  labels: readonly string[]
  series: readonly Series[]
}

/** Formats values for axes, tooltips and the table. */
export type FormatValue = (value: number) => string

/** Colour class of a series by its index; the last colour is for "other". */
const seriesFill = [
  'fill-chart-1',
  'fill-chart-2',
  'fill-chart-3',
  'fill-chart-4',
  'fill-chart-5',
  'fill-chart-6',
  'fill-chart-7',
] as const

/** Like `seriesFill`, for the small marks beside names. */
const seriesMark = [
  'bg-chart-1',
  'bg-chart-2',
  'bg-chart-3',
  'bg-chart-4',
  'bg-chart-5',
  'bg-chart-6',
  'bg-chart-7',
] as const

/** Classes of the colours that have a fixed meaning, for shapes and for small marks. */
export const dotFill: Readonly<Record<DotColor, string>> = {
  green: 'fill-green',
  olive: 'fill-olive',
  yellow: 'fill-yellow',
  orange: 'fill-orange',
  red: 'fill-red',
  purple: 'fill-purple',
  grey: 'fill-grey',
  accent: 'fill-accent',
}

/** Class that fills a shape of the nth series. */
export function fillOf(color: DotColor | undefined, index: number): string | undefined {
  return color ? dotFill[color] : seriesFill[Math.min(index, seriesFill.length - 1)]
}

/** Class of the small mark beside the name of the nth series. */
export function markOf(color: DotColor | undefined, index: number): string | undefined {
  return color ? dotMark[color] : seriesMark[Math.min(index, seriesMark.length - 1)]
}

/**
 * The id of the series that also gets a pattern, so that it can be distinguished without colour. If any series has a
 * colour with a fixed meaning, it is the red series, which indicates trouble. Otherwise it is the largest series.
 * Undefined if fewer than two series have values.
 */
export function patternedOf(series: readonly Series[]): string | undefined {
  const sums = series.map(({ values }) => values.reduce((sum, value) => sum + value, 0))
  const seen = series.filter((_, index) => sums[index])
  if (seen.length < 2) return undefined
  const largest = series[sums.indexOf(Math.max(...sums))]
  return (seen.some(({ color }) => color) ? seen.find(({ color }) => color === 'red') : largest)?.id
}
