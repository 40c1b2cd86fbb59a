import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useState } from 'react'
import { type ImportRun, importApi } from '../../../contract/api/import.ts'
import { Banner, type BannerKind } from '../../components/ui/banner.tsx'
import { Button, buttonClass } from '../../components/ui/button.tsx'
import { RowsSkeleton } from '../../components/ui/states.tsx'
import { addressOf } from '../../lib/call.ts'
import { downloadFile } from '../../lib/download.ts'
import { useText } from '../../lib/text.ts'
import { reportQuery, runAgain } from './queries.ts'
import { ReportView } from './report-view.tsx'
import { Sentence } from './sentence.tsx'

const kinds = {
  done: 'good',
  failed: 'bad',
  cancelled: 'info',
  interrupted: 'warn',
  queued: 'info',
  running: 'info',
} as const satisfies Record<ImportRun['state'], BannerKind>

/** How the newest import ended, the next step, and the report. */
export function RunEnd({ run }: { run: ImportRun }) {
  const t = useText()
  const { id, state, dry_run, source, error } = run
  const report = useQuery({ ...reportQuery(id), enabled: state === 'done' })
  const title = state === 'done' ? t(dry_run ? 'import.end.checked' : 'import.end.done') : t(`import.end.${state}`)
  return (
    <div className="flex flex-col gap-4">
      <Banner kind={kinds[state]} title={title} live>
        <p className="break-words" data-verbatim>
          {source}
        </p>
        {error !== '' && <Sentence text={error} code={run.error_code} values={run.error_values} />}
        {state === 'interrupted' && <p>{t('import.end.interrupted.text')}</p>}
        {state === 'cancelled' && !dry_run && <p>{t('import.end.cancelled.text')}</p>}
      </Banner>
      <div className="flex flex-wrap gap-2">
        <Next run={run} />
        {report.data && (
          <Button
            icon={<Download />}
            onClick={() =>
              downloadFile(`import-${id}.json`, JSON.stringify(report.data, undefined, 2), 'application/json')
            }
          >
            {t('import.download')}
          </Button>
        )}
        {run.has_leftovers && (
          <a href={addressOf(importApi.leftovers, { params: { id } })} download className={buttonClass()}>
            <Download aria-hidden="true" />
            {t('import.leftovers')}
          </a>
        )}
      </div>
      {state === 'done' &&
        (report.data ? (
          <ReportView report={report.data} />
        ) : report.isError ? (
          <Banner kind="bad" title={t('import.error.report')} />
        ) : (
          <RowsSkeleton className="h-72" />
        ))}
    </div>
  )
}

/** The next step with the same source. Renders nothing if the source is no longer stored on the server. */
function Next({ run }: { run: ImportRun }) {
  const t = useText()
  const [busy, setBusy] = useState(false)
  const { state, dry_run, can_continue } = run
  if (!can_continue) return null
  const isChecked = state === 'done' && dry_run
  const go = async (dry: boolean) => {
    setBusy(true)
    // If the call fails, it shows its own error.
    await runAgain(run, dry).catch(() => undefined)
    setBusy(false)
  }
  return (
    <>
      <Button look="primary" busy={busy} onClick={() => void go(dry_run && !isChecked)}>
        {t(isChecked ? 'import.start' : state === 'interrupted' ? 'import.continue' : 'import.retry')}
      </Button>
      {isChecked && (
        <Button disabled={busy} onClick={() => void go(true)}>
          {t('import.recheck')}
        </Button>
      )}
    </>
  )
}
