import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, Suspense, useId, useState } from 'react'
import type { User } from '../../../contract/api/user.ts'
import { roles } from '../../../contract/roles.ts'
import { userStatus } from '../../../contract/statuses.ts'
import { DollarBox } from '../../components/form/quota-box.tsx'
import { Groups } from '../../components/groups.tsx'
import { Limits } from '../../components/limits.tsx'
import { RecentUse } from '../../components/recent-use.tsx'
import { Button } from '../../components/ui/button.tsx'
import { Drawer, type DrawerSteps } from '../../components/ui/drawer.tsx'
import { Input } from '../../components/ui/input.tsx'
import { Kpi } from '../../components/ui/kpi.tsx'
import { DetailsSkeleton, ErrorState, RowsSkeleton } from '../../components/ui/states.tsx'
import { Tabs } from '../../components/ui/tabs.tsx'
import { formatCount, formatTime, quotaPerUnit, showsCurrency, useFormatQuota, useFormatSum } from '../../lib/format.ts'
import { lazy } from '../../lib/lazy.ts'
import { useClassicServer } from '../../lib/status.ts'
import { loadAreas, useText } from '../../lib/text.ts'
import { toastWithUndo } from '../../lib/undo.ts'
import { toggleUser } from './actions.tsx'
import { Bindings } from './bindings.tsx'
import { giveQuota, userQuery, userSpentQuery } from './queries.ts'
import { UserRole, UserStatus } from './user-parts.tsx'

interface UserPeekProps {
  id: string
  steps: DrawerSteps | undefined
  /** The open tab; anything unknown means the first one. */
  tab: string | undefined
  onTab(tab: string | undefined): void
  onClose(): void
  onEdit(user: User): void
}

/** The drawer of a user, with figures, a quick top-up, connected accounts, and links to the logs. */
export function UserPeek({ id, steps, tab, onTab, onClose, onEdit }: UserPeekProps) {
  const t = useText()
  const query = useQuery(userQuery(id))
  const user = query.data
  const open = user !== undefined && user.role < roles.root
  const classic = useClassicServer()
  return (
    <Drawer
      open
      onClose={onClose}
      steps={steps}
      title={user?.username ?? t('user.title')}
      aside={user && <UserStatus user={user} />}
      footer={
        open ? (
          <>
            <Button onClick={() => void toggleUser(user).catch(() => undefined)}>
              {t(user.status === userStatus.enabled ? 'do.disable' : 'do.enable')}
            </Button>
            <Button onClick={() => onEdit(user)}>{t('do.edit')}</Button>
          </>
        ) : undefined
      }
    >
      {query.isPending && <DetailsSkeleton />}
      {query.isError && (
        <ErrorState title={t('user.notFound')} text={query.error.message} onRetry={() => void query.refetch()} />
      )}
      {user && (classic ? <Details key={user.id} user={user} /> : <UserTabs user={user} tab={tab} onTab={onTab} />)}
    </Drawer>
  )
}

const UserTokens = lazy(async () => {
  const [it] = await Promise.all([import('./user-tokens.tsx'), loadAreas(['token'])])
  return { default: it.UserTokens }
})
const UserSessions = lazy(() => import('./user-sessions.tsx').then((it) => ({ default: it.UserSessions })))

const tabs = ['account', 'tokens', 'sessions'] as const

/** The account, its tokens and its sessions. */
function UserTabs({ user, tab, onTab }: { user: User } & Pick<UserPeekProps, 'tab' | 'onTab'>) {
  const t = useText()
  const contents = {
    account: <Details key={user.id} user={user} />,
    tokens: <UserTokens key={user.id} user={user} />,
    sessions: <UserSessions key={user.id} user={user} />,
  }
  return (
    <Tabs
      label={t('user.peek.tabs')}
      value={tabs.find((each) => each === tab) ?? 'account'}
      onChange={(next) => onTab(next === 'account' ? undefined : next)}
      tabs={tabs.map((id) => ({
        id,
        label: t(`user.peek.tab.${id}`),
        content: (
          <Suspense fallback={<RowsSkeleton className="h-64 border-0!" />}>
            <div className="flex flex-col gap-5">{contents[id]}</div>
          </Suspense>
        ),
      }))}
    />
  )
}

function Details({ user }: { user: User }) {
  const t = useText()
  const formatSum = useFormatSum()
  const spent = useQuery(userSpentQuery(user.username))
  const classic = useClassicServer()
  return (
    <>
      <div className="grid grid-cols-2 gap-3">
        <Kpi
          label={t('user.quota')}
          value={formatSum(user.quota)}
          note={`${t('user.used')}: ${formatSum(user.used_quota)}`}
        />
        <Kpi
          label={t('user.peek.spent')}
          loading={spent.isPending}
          value={spent.data === undefined ? '–' : formatSum(spent.data)}
          note={`${t('user.requests')}: ${formatCount(user.request_count)}`}
        />
      </div>
      {user.role < roles.root && <GiveQuota user={user} />}
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5 text-sm">
        <Fact name={t('user.displayName')}>{user.display_name}</Fact>
        <Fact name={t('user.role')}>
          <UserRole role={user.role} />
        </Fact>
        <Fact name={t('user.group')}>
          <Groups group={user.group} all />
        </Fact>
        {user.inviter_id > 0 && (
          <Fact name={t('user.peek.inviter')}>
            <Link to="/user" search={{ peek: String(user.inviter_id) }} className="text-link hover:underline">
              {t('user.peek.inviter.id', { id: user.inviter_id })}
            </Link>
          </Fact>
        )}
        {user.spent_at > 0 && <Fact name={t('user.active')}>{formatTime(user.spent_at)}</Fact>}
        {user.created_time > 0 && <Fact name={t('user.created')}>{formatTime(user.created_time)}</Fact>}
      </dl>
      <Limits of={user} />
      <RecentUse filter={{ username: user.username }} />
      <p className="flex flex-wrap gap-x-4 gap-y-1 text-sm">
        <Link to="/log" search={{ user: user.username }} className="text-link hover:underline">
          {t('user.peek.logs')}
        </Link>
        {!classic && (
          <>
            <Link to="/statement" search={{ user: String(user.id) }} className="text-link hover:underline">
              {t('user.peek.statement')}
            </Link>
            <Link to="/budget" search={{ user: String(user.id) }} className="text-link hover:underline">
              {t('user.peek.budgets')}
            </Link>
          </>
        )}
      </p>
      <Bindings user={user} />
    </>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="num min-w-0 text-end break-words">{children}</dd>
    </>
  )
}

const amounts = [1, 5, 10]

/**
 * Adds a suggested or typed amount to the balance. The amount is in dollars if the installation shows dollars,
 * otherwise in quota units.
 */
function GiveQuota({ user }: { user: User }) {
  const t = useText()
  const formatQuota = useFormatQuota()
  const id = useId()
  const [quota, setQuota] = useState<number>()
  const [busy, setBusy] = useState(false)
  const currency = showsCurrency()
  const isAmount = quota !== undefined && Number.isInteger(quota) && quota !== 0
  const give = async (units: number) => {
    setBusy(true)
    try {
      await giveQuota(user, units)
      setQuota(undefined)
      toastWithUndo(t('user.peek.given', { quota: formatQuota(units), name: user.username }), () =>
        giveQuota(user, -units),
      )
    } catch {
      // The call has already shown the error.
    }
    setBusy(false)
  }
  const label = t(currency ? 'user.peek.customAmount' : 'user.peek.custom')
  return (
    <section aria-label={t('user.peek.topup')} className="rounded-lg border border-line p-3">
      <h3 className="text-sm font-medium">{t('user.peek.topup')}</h3>
      <p id={`${id}-note`} className="mb-2 text-xs text-muted">
        {t('user.peek.note')}
      </p>
      <form
        className="flex flex-wrap items-center gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          if (isAmount) void give(quota)
        }}
      >
        {amounts.map((dollars) => {
          const units = Math.round(dollars * quotaPerUnit())
          return (
            <Button key={dollars} size="small" disabled={busy} onClick={() => void give(units)}>
              +{currency ? `$${dollars}` : formatQuota(units)}
            </Button>
          )
        })}
        <label htmlFor={id} className="sr-only">
          {label}
        </label>
        {currency ? (
          <DollarBox
            id={id}
            value={quota}
            onChange={setQuota}
            placeholder={label}
            describedBy={`${id}-note`}
            className="min-w-52 flex-1"
          />
        ) : (
          <Input
            id={id}
            type="number"
            step={1}
            value={quota ?? ''}
            placeholder={label}
            aria-describedby={`${id}-note`}
            onChange={({ target }) => setQuota(target.value === '' ? undefined : Number(target.value))}
            className="num min-w-32 flex-1"
          />
        )}
        <Button type="submit" size="small" busy={busy} disabled={!isAmount}>
          {t('user.peek.give')}
        </Button>
      </form>
    </section>
  )
}
