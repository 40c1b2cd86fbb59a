import { Link } from '@tanstack/react-router'
import { buttonClass } from '../../components/ui/button.tsx'
import { Page } from '../../components/ui/page.tsx'
import { EmptyState } from '../../components/ui/states.tsx'
import { usePageCrumb } from '../../lib/crumb.ts'
import { isRoot, useSessionUser } from '../../lib/session.ts'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { RecordingForm } from './recording-form.tsx'
import { RulesTable } from './rules-table.tsx'
import { parseRecordingSearch } from './search.ts'

/** `/recording`: which requests are recorded, and until when. Only for the super admin. */
export function RecordingPage() {
  const t = useText()
  usePageCrumb(t('recording.title'), '/log')
  const [search] = useUrlState(parseRecordingSearch)
  const root = isRoot(useSessionUser())
  const classic = useClassicServer()
  const settings = (
    <Link to="/setting" search={{ tab: 'operation' }} hash="recording" className={buttonClass()}>
      {t('recording.settings')}
    </Link>
  )
  return (
    <Page title={t('recording.title')} width="narrow">
      {classic && <EmptyState title={t('recording.classic')} />}
      {!classic && !root && <EmptyState title={t('recording.rootOnly')} text={t('recording.rootOnly.text')} />}
      {!classic && root && (
        <div className="flex flex-col gap-4">
          <p className="text-sm text-muted">{t('recording.intro')}</p>
          <RecordingForm search={search} />
          <RulesTable />
          <div>{settings}</div>
        </div>
      )}
    </Page>
  )
}
