import type { ImportRun } from '../../../contract/api/import.ts'
import { Button } from '../../components/ui/button.tsx'
import { Card } from '../../components/ui/page.tsx'
import { useConfirm } from '../../components/ui/use-confirm.tsx'
import { formatCount } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import { cancelImport } from './queries.ts'

/** The progress of the running import. The import continues if the page is closed. */
export function RunProgress({ run }: { run: ImportRun }) {
  const t = useText()
  const [ask, question] = useConfirm()
  const { id, stage, done, total, per_second, dry_run, source, started_by } = run
  const cancel = () =>
    ask({
      title: t('import.cancel.title'),
      text: t('import.cancel.text'),
      confirm: t('import.cancel'),
      danger: true,
      onConfirm: () => cancelImport(id),
    })
  return (
    <Card title={t(dry_run ? 'import.running.dry' : 'import.running')}>
      <div className="flex flex-col gap-3">
        <p className="text-sm break-words text-muted">{t('import.running.by', { source, name: started_by })}</p>
        <p role="status">{t(stage === '' ? 'import.stage.queued' : `import.stage.${stage}`)}</p>
        <progress
          className="h-2 w-full accent-accent"
          aria-label={t('import.progress')}
          {...(total > 0 && { max: total, value: done })}
        />
        {total > 0 && (
          <p className="num text-sm text-muted">
            {t('import.rows', {
              done: formatCount(done),
              total: formatCount(total),
              rate: formatCount(per_second),
            })}
          </p>
        )}
        <p className="text-sm text-muted">{t('import.running.note')}</p>
        <div>
          <Button onClick={cancel}>{t('import.cancel')}</Button>
        </div>
      </div>
      {question}
    </Card>
  )
}
