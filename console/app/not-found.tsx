import { Link } from '@tanstack/react-router'
import { buttonClass } from '../components/ui/button.tsx'
import { PageHeading } from '../components/ui/page.tsx'
import { useText } from '../lib/text.ts'

/** For paths that lead nowhere. */
export function NotFound() {
  const t = useText()
  return (
    <div className="flex flex-col items-center gap-2 px-4 py-24 text-center">
      <PageHeading title={t('notFound.code')} className="text-2xl!" />
      <p className="text-muted">{t('notFound.text')}</p>
      <Link to="/" className={buttonClass({ className: 'mt-4' })}>
        {t('notFound.home')}
      </Link>
    </div>
  )
}
