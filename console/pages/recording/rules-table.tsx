import { useQuery } from '@tanstack/react-query'
import type { CaptureRule } from '../../../contract/api/capture.ts'
import { Status } from '../../components/ui/badge.tsx'
import { Button } from '../../components/ui/button.tsx'
import { Card } from '../../components/ui/page.tsx'
import { EmptyState, ErrorState, RowsSkeleton } from '../../components/ui/states.tsx'
import { formatTime } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { endRecording, rulesQuery } from './queries.ts'

const refreshMs = 15_000

/** The running recordings, and the latest that have ended. */
export function RulesTable() {
  const t = useText()
  const { data: rules, error, refetch, isFetching } = useQuery({ ...rulesQuery, refetchInterval: refreshMs })
  if (error && !rules) {
    return (
      <ErrorState
        title={t('recording.rules.failed')}
        text={error.message}
        onRetry={() => void refetch()}
        busy={isFetching}
      />
    )
  }
  if (!rules) return <RowsSkeleton className="h-48" />
  return (
    <Card title={t('recording.rules')}>
      {rules.length === 0 ? (
        <EmptyState title={t('recording.rules.empty')} text={t('recording.rules.empty.text')} />
      ) : (
        <ul className="-my-4 divide-y divide-line">
          {rules.map((rule) => (
            <Rule key={rule.id} rule={rule} />
          ))}
        </ul>
      )}
    </Card>
  )
}

function Rule({ rule }: { rule: CaptureRule }) {
  const t = useText()
  const runs = rule.until > Date.now() / 1000
  const end = async () => {
    await endRecording(rule.id)
    toast.success(t('recording.endedNow'))
  }
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1 py-3 text-sm">
      <div className="min-w-0">
        <p className="font-medium break-words">
          {rule.target_name || t(`recording.of.${rule.target}`, { id: String(rule.target_id) })}
          {rule.target_name !== '' && (
            <span className="ml-2 font-normal text-muted">
              {t(`recording.of.${rule.target}`, { id: String(rule.target_id) })}
            </span>
          )}
        </p>
        <p className="mt-0.5 flex flex-wrap gap-x-4 gap-y-0.5 text-muted">
          <Status color={runs ? 'red' : 'grey'}>
            {t(runs ? 'recording.running' : 'recording.ended', { time: formatTime(rule.until) })}
          </Status>
          <span>{t('recording.by', { name: rule.created_by_name })}</span>
          <span className="num">{t('recording.count', { count: rule.captured })}</span>
          {rule.redactions.length > 0 && (
            <span title={rule.redactions.join('\n')}>{t('recording.removes', { count: rule.redactions.length })}</span>
          )}
        </p>
      </div>
      {runs && (
        <Button
          aria-label={t('recording.end.name', { name: rule.target_name || String(rule.target_id) })}
          onClick={() => void end()}
        >
          {t('recording.end')}
        </Button>
      )}
    </li>
  )
}
