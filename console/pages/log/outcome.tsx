import * as z from 'zod/mini'
import type { Log } from '../../../contract/api/log.ts'
import { logType } from '../../../contract/log-types.ts'
import { type DotColor, Status } from '../../components/ui/badge.tsx'
import { formatCount, formatNumber } from '../../lib/format.ts'
import { type Text, useText } from '../../lib/text.ts'

const attemptsSchema = z.array(
  z.object({ channelId: z.number(), status: z.number(), error: z.string(), elapsedMs: z.number() }),
)

/** One attempt to get a response from a channel. */
export type Attempt = z.output<typeof attemptsSchema>[number]

/** The attempts stored in a row; undefined if the text has another format. */
export function attemptsOf(text: string): Attempt[] | undefined {
  try {
    const parsed = z.safeParse(attemptsSchema, JSON.parse(text))
    return parsed.success ? parsed.data : undefined
  } catch {
    return undefined
  }
}

/** True for a row of a call, whether or not it succeeded. */
export function isCall({ type }: Pick<Log, 'type'>): boolean {
  return type === logType.consume || type === logType.error
}

/** How often a call was retried. Only rows that administrators see contain this. */
function retriesOf({ attempts }: Log): number {
  return attempts ? Math.max(0, (attemptsOf(attempts)?.length ?? 0) - 1) : 0
}

/**
 * How a call ended, in words, with the colour of its dot. For a call that succeeded after retries, the text includes
 * their number.
 */
export function outcomeOf(log: Log, t: Text): { text: string; color: DotColor } {
  if (log.type === logType.error && log.status > 0)
    return { color: 'red', text: t('log.outcome.failedWith', { status: String(log.status) }) }
  if (log.type === logType.error || log.outcome === 'failed') return { color: 'red', text: t('log.outcome.failed') }
  if (log.outcome === 'interrupted') return { color: 'red', text: t('log.outcome.interrupted') }
  if (log.outcome === 'aborted') return { color: 'grey', text: t('log.outcome.aborted') }
  if (log.outcome === 'rescued') return { color: 'yellow', text: t('log.outcome.rescued') }
  const retries = retriesOf(log)
  if (retries > 0) return { color: 'yellow', text: t('log.outcome.retried', { count: retries }) }
  return { color: 'green', text: t('log.outcome.succeeded') }
}

/** How a call ended, and a mark if its tokens are estimated. */
export function Outcome({ log }: { log: Log }) {
  const t = useText()
  const { text, color } = outcomeOf(log, t)
  return (
    <span className="inline-flex items-center gap-2 whitespace-nowrap">
      <Status color={color}>{text}</Status>
      {log.estimated && (
        <span title={t('log.peek.estimated')} className="text-muted">
          <span aria-hidden="true">≈</span>
          <span className="sr-only">{t('log.outcome.estimated')}</span>
        </span>
      )}
    </span>
  )
}

/** A duration as text. From one second on, it is in seconds. */
export function durationText(ms: number, t: Text): string {
  return ms < 1000
    ? t('log.ms', { value: formatCount(ms) })
    : t('log.seconds', { value: formatNumber(Math.round(ms / 10) / 100) })
}
