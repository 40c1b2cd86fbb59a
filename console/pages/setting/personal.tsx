import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { roles } from '../../../contract/roles.ts'
import { Button, buttonClass } from '../../components/ui/button.tsx'
import { Card } from '../../components/ui/page.tsx'
import { ErrorState, Skeleton } from '../../components/ui/states.tsx'
import { useFormatQuota } from '../../lib/format.ts'
import { lazy } from '../../lib/lazy.ts'
import { selfQuery } from '../../lib/self.ts'
import { useSessionUser } from '../../lib/session.ts'
import { useText } from '../../lib/text.ts'
import { AccessToken, InviteLink } from './access-token.tsx'
import { Bindings } from './bindings.tsx'
import { Preferences } from './preferences.tsx'

const DeleteAccount = lazy(() => import('./delete-account.tsx').then((it) => ({ default: it.DeleteAccount })))

/** The first tab: the user's own account. */
export function PersonalPanel() {
  return (
    <div className="grid max-w-4xl grid-cols-[minmax(0,1fr)] gap-4">
      <Profile />
      <Bindings />
      <AccessToken />
      <InviteLink />
      <Preferences />
      <DangerZone />
    </div>
  )
}

function Profile() {
  const t = useText()
  const formatQuota = useFormatQuota()
  const { data, error, refetch, isFetching } = useQuery(selfQuery)
  const edit = (
    <Link to="/user/edit" className={buttonClass({ size: 'small' })}>
      {t('setting.profile.edit')}
    </Link>
  )
  const known = useSessionUser()
  const role = data?.role ?? known?.role ?? roles.user
  return (
    <Card title={t('setting.profile')} actions={edit}>
      {error && !data ? (
        <ErrorState
          title={t('setting.profile.failed')}
          text={error.message}
          onRetry={() => void refetch()}
          busy={isFetching}
        />
      ) : (
        <div className="flex flex-wrap items-end justify-between gap-x-8 gap-y-3">
          <div className="min-w-0">
            <p className="text-lg font-medium break-words" data-verbatim>
              {data?.display_name || known?.display_name || known?.username}
            </p>
            <p className="text-sm break-words text-muted" data-verbatim>
              {known?.username}
            </p>
          </div>
          <dl className="flex flex-wrap gap-x-8 gap-y-2 text-sm">
            <Fact name={t('setting.profile.role')} value={t(`setting.role.${roleName(role)}`)} />
            <Fact name={t('setting.profile.group')} value={data && (data.group || 'default')} verbatim />
            <Fact name={t('setting.profile.quota')} value={data && formatQuota(data.quota)} verbatim />
          </dl>
        </div>
      )}
    </Card>
  )
}

function roleName(role: number): 'root' | 'admin' | 'user' {
  if (role >= roles.root) return 'root'
  return role >= roles.admin ? 'admin' : 'user'
}

function Fact({ name, value, verbatim = false }: { name: string; value: string | undefined; verbatim?: boolean }) {
  return (
    <div>
      <dt className="text-muted">{name}</dt>
      <dd className="num font-medium" data-verbatim={verbatim || undefined}>
        {value ?? <Skeleton className="mt-1 h-4 w-16" />}
      </dd>
    </div>
  )
}

function DangerZone() {
  const t = useText()
  const [open, setOpen] = useState(false)
  return (
    <Card title={t('setting.danger')} className="border-bad/40">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-xl text-sm text-muted">{t('setting.delete.text')}</p>
        <Button look="danger" className="max-w-full shrink! text-wrap!" onClick={() => setOpen(true)}>
          {t('setting.delete')}
        </Button>
      </div>
      <Suspense fallback={null}>{open && <DeleteAccount onClose={() => setOpen(false)} />}</Suspense>
    </Card>
  )
}
