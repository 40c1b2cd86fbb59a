import { Link, Outlet } from '@tanstack/react-router'
import { buttonClass } from '../components/ui/button.tsx'
import { PageHeading } from '../components/ui/page-heading.tsx'
import { isAdmin, useSessionUser } from '../lib/session.ts'
import { useText } from '../lib/text.ts'

/** Shows the page to administrators. Other users see a message that explains why they cannot see it. */
export function AdminOnly() {
  const t = useText()
  const user = useSessionUser()
  if (isAdmin(user)) return <Outlet />
  return (
    <div className="mx-auto max-w-md py-24 text-center">
      <PageHeading title={t('noPermission.title')} />
      <p className="mt-1 mb-4 text-sm text-muted">{t('noPermission.text', { name: user?.username ?? '' })}</p>
      <Link to="/" className={buttonClass()}>
        {t('notFound.home')}
      </Link>
    </div>
  )
}
