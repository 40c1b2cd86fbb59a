/** A series of a chart: its name, and one value for each label. */
export interface Series {
  id: string
  name: string
  values: readonly number[]
}

/** What every chart is given. */
export interface ChartData {
  /** Names of the places along the axis, such as days. */
  labels: readonly string[]
  series: readonly Series[]
}

/** How values are written on axes, in tips and in the table. */
export type FormatValue = (value: number) => string

/** Class of the colour of a series by its place; the last colour is for "other". */
export const seriesFill = [
  'fill-chart-1',
  'fill-chart-2',
  'fill-chart-3',
  'fill-chart-4',
  'fill-chart-5',
  'fill-chart-6',
  'fill-chart-7',
] as const

/** As `seriesFill`, for small marks beside names. */
export const seriesMark = [
  'bg-chart-1',
  'bg-chart-2',
  'bg-chart-3',
  'bg-chart-4',
  'bg-chart-5',
  'bg-chart-6',
  'bg-chart-7',
] as const

/** Colour class of the nth series. */
export function colorOf<T>(colors: readonly [T, ...T[]] | readonly T[], index: number): T | undefined {
  return colors[Math.min(index, colors.length - 1)]
}
