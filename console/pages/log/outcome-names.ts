import { type LogOutcome, usualSlowSeconds } from '../../../contract/log-outcomes.ts'
import type { Text } from '../../lib/text.ts'
import { whole } from './range.ts'
import type { LogSearch } from './search.ts'

/** The name of an outcome that calls can be filtered by. */
export function outcomeName(outcome: LogOutcome, seconds: number, t: Text): string {
  switch (outcome) {
    case 'failed':
      return t('log.outcome.failedOrInterrupted')
    case 'slow':
      return t('log.outcome.slow', { seconds })
    case 'estimated':
      return t('log.outcome.estimatedCalls')
    case 'retried':
      return t('log.outcome.retriedCalls')
    case 'rescued':
      return t('log.outcome.rescued')
  }
}

/** The duration in seconds from which a search counts calls as slow. */
export const slowSeconds = ({ slow }: LogSearch) => whole(slow) || usualSlowSeconds
