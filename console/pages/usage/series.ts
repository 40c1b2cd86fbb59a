import type { Usage } from '../../../contract/api/usage.ts'
import type { Series } from '../../components/chart/types.ts'
import { formatTime } from '../../lib/format.ts'
import { type Text, text } from '../../lib/text.ts'
import { nameOfGroup } from './name-of-group.ts'
import type { UsageView } from './queries.ts'

function runningSums(values: readonly number[]): number[] {
  let sum = 0
  return values.map((value) => {
    sum += value
    return sum
  })
}

/** The groups of a usage response as the series of a chart; the remaining groups are combined. */
export function seriesOf(usage: Usage, view: UsageView, t: Text): Series[] {
  const shape = view.cumulative === '' ? (values: readonly number[]) => values : runningSums
  if (view.group === 'none') return [{ id: 'all', name: t('usage.all'), values: shape(usage.values) }]
  const named = usage.groups.map((group) => ({
    id: group.key,
    name: nameOfGroup(view.group, group.name, t),
    ...(view.group === 'model' && group.name !== '' && { model: group.name }),
    values: shape(group.values),
  }))
  if (!usage.other) return named
  const name = t('usage.other', { count: usage.other.groups })
  return [...named, { id: ' other', name, values: shape(usage.other.values) }]
}

const labelParts = { hour: [5, 16], day: [5, 10], week: [5, 10], month: [0, 7] } as const

/** The labels under the bars. */
export function labelsOf(usage: Usage, { rollup }: UsageView): string[] {
  const [from, to] = labelParts[rollup]
  return usage.buckets.map((at) => formatTime(at).slice(from, to))
}

/** A title such as "Spend by day". */
export function titleOf({ metric, rollup }: UsageView): string {
  return text('usage.chart', { metric: text(`usage.metric.${metric}`), rollup: text(`usage.rollup.${rollup}`) })
}
