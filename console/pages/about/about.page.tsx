import { Link } from '@tanstack/react-router'
import { statusApi } from '../../../contract/api/status.ts'
import { buttonClass } from '../../components/ui/button.tsx'
import { Card, Page } from '../../components/ui/page.tsx'
import { WrittenPage } from '../../components/written-page.tsx'
import { basePath } from '../../lib/base-path.ts'
import { formatTime } from '../../lib/format.ts'
import { isAdmin, useSessionUser } from '../../lib/session.ts'
import { useServerStatus } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'

/** `/about`: the text that an administrator wrote, or a description of Tollgate. */
export function AboutPage() {
  const t = useText()
  return (
    <Page title={t('about.title')}>
      <WrittenPage
        endpoint={statusApi.about}
        input={{}}
        storageKey="about"
        title={t('about.title')}
        failed={t('about.failed')}
        empty={<Default />}
      />
    </Page>
  )
}

function Default() {
  const t = useText()
  const user = useSessionUser()
  const { version, start_time, system_name } = useServerStatus()
  return (
    <div className="flex max-w-2xl flex-col gap-4">
      <Card title={system_name ?? 'Tollgate'}>
        <p>{t('about.text')}</p>
        <p className="mt-2 text-sm text-muted">{t('about.compatible')}</p>
        <dl className="mt-4 grid grid-cols-[max-content_1fr] gap-x-6 gap-y-1.5 text-sm">
          <dt className="text-muted">{t('about.version')}</dt>
          <dd className="num">{version ?? ''}</dd>
          <dt className="text-muted">{t('about.started')}</dt>
          <dd className="num">{start_time === undefined ? '' : formatTime(start_time)}</dd>
          <dt className="text-muted">{t('about.licence')}</dt>
          <dd>{t('about.licence.text')}</dd>
        </dl>
        <p className="mt-4">
          <a href={`${basePath}/api/docs`} className="text-sm font-medium text-link hover:underline">
            {t('about.docs')}
          </a>
        </p>
      </Card>
      {isAdmin(user) && (
        <p className="flex flex-wrap items-center gap-3 text-sm text-muted">
          {t('about.admin')}
          <Link to="/setting" search={{ tab: 'other' }} className={buttonClass({ size: 'small' })}>
            {t('about.write')}
          </Link>
        </p>
      )}
    </div>
  )
}
