import { logCopyPlace } from '../../jobs/log-copy-place.ts'
import { sinkBacklog, sinkState } from '../../store/logs/log-sinks.ts'
import { isWhole, logPartitions, strayRows } from '../../store/logs/partitions/log-partitions.ts'
import { type Check, type Finding, fail, ok, warn } from './check.ts'

/** If the default partition has more rows than this, partitions were probably missing. */
const fewRows = 1000

/** Whether the log on PostgreSQL is divided by month. */
export const checkLog: Check = {
  name: 'log',
  async run({ store }): Promise<Finding[]> {
    if (store.dialect === 'sqlite') return []
    const partitions = await logPartitions(store.read)
    if (partitions.some(isWhole))
      return [
        warn(
          'The log is not divided by month yet.',
          'A running server does it within an hour, unless the log has rows with a time far in the future: see docs/upgrading.md.',
        ),
      ]
    const months = partitions.filter(({ isDefault }) => !isDefault)
    const strays = await strayRows(store.read, fewRows + 1)
    const last = months.at(-1)?.until ?? 0
    const state = `The log has ${months.length} partitions, up to ${new Date(last * 1000).toISOString().slice(0, 10)}.`
    if (last * 1000 < Date.now())
      return [warn(state, 'A running server creates those of the coming months; see its messages if it does not.')]
    if (strays <= fewRows) return [ok(state)]
    return [
      warn(
        `${state} More than ${fewRows} rows belong to none of them.`,
        'Their times are wrong, or nobody has moved them yet: a running server does it within an hour.',
      ),
    ]
  },
}

/** Whether the copy of the log is up to date. */
export const checkLogSink: Check = {
  name: 'log copy',
  async run({ config, settings, store }): Promise<Finding[]> {
    const place = logCopyPlace({ config, settings })
    if (place === undefined) return []
    const state = await sinkState(store.read, place.name)
    if (!state) return [warn(`Nothing was copied to ${place.name} yet.`, 'Start the server, and check again.')]
    const waiting = await sinkBacklog(store.read, state)
    const text = `${state.sent_rows} log rows were copied to ${place.name}, ${waiting} wait.`
    const gap: Finding[] =
      state.lost_rows === 0
        ? []
        : [
            warn(
              `${state.lost_rows} log rows were deleted before they were copied, the last ones at ${new Date(state.lost_at * 1000).toISOString()}.`,
              'The copy has a gap. Keep the log for longer (LogRetentionDays), or find out why the copy was away.',
            ),
          ]
    if (state.error === '') return [ok(text), ...gap]
    return [
      fail(
        `${text} The last attempt failed: ${state.error}`,
        'Make the place reachable. The rows are kept until then.',
      ),
      ...gap,
    ]
  },
}
