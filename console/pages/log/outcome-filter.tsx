import { usualSlowSeconds } from '../../../contract/log-outcomes.ts'
import { Select } from '../../components/ui/select.tsx'
import { useText } from '../../lib/text.ts'
import type { SetSearch } from '../../lib/use-url-state.ts'
import { whole } from './range.ts'
import type { LogSearch } from './search.ts'

/** Durations in seconds from which calls can be called slow. */
const slowSeconds: readonly number[] = [5, usualSlowSeconds, 30, 60]

/** What the outcome of a search is called; undefined if none is chosen. */
export function useOutcomeText({ outcome, slow }: LogSearch): string | undefined {
  const t = useText()
  if (outcome === undefined) return undefined
  if (outcome === 'slow') return t('log.outcome.slow', { seconds: whole(slow) || usualSlowSeconds })
  return outcome in names ? t(names[outcome as keyof typeof names]) : outcome
}

const names = {
  failed: 'log.outcome.failedOrInterrupted',
  retried: 'log.outcome.retriedCalls',
  rescued: 'log.outcome.rescued',
  estimated: 'log.outcome.estimatedCalls',
} as const

interface OutcomeFilterProps {
  search: LogSearch
  setSearch: SetSearch<LogSearch>
  everybody: boolean
}

/** Chooses calls by how they went. A duration that the URL names is offered as well. */
export function OutcomeFilter({ search, setSearch, everybody }: OutcomeFilterProps) {
  const t = useText()
  const asked = whole(search.slow) || usualSlowSeconds
  const durations = [...new Set([...slowSeconds, asked])].sort((a, b) => a - b)
  const value = search.outcome === 'slow' ? `slow ${asked}` : (search.outcome ?? '')
  return (
    <Select
      aria-label={t('log.filter.outcome')}
      value={value}
      onChange={(event) => {
        const [outcome = '', slow] = event.target.value.split(' ')
        setSearch({ outcome: outcome === '' ? undefined : outcome, slow, page: undefined })
      }}
      className="sm:w-40!"
    >
      <option value="">{t('log.outcome.all')}</option>
      <option value="failed">{t('log.outcome.failedOrInterrupted')}</option>
      {everybody && <option value="retried">{t('log.outcome.retriedCalls')}</option>}
      {everybody && <option value="rescued">{t('log.outcome.rescued')}</option>}
      {durations.map((seconds) => (
        <option key={seconds} value={`slow ${seconds}`}>
          {t('log.outcome.slow', { seconds })}
        </option>
      ))}
      <option value="estimated">{t('log.outcome.estimatedCalls')}</option>
    </Select>
  )
}
