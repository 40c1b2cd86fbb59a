import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Token } from '../../../contract/api/token.ts'
import { tokenStatus } from '../../../contract/statuses.ts'
import { Limits } from '../../components/limits.tsx'
import { RecentUse } from '../../components/recent-use.tsx'
import {
  blockedReason,
  Expiry,
  hasOldKey,
  LastUse,
  Moment,
  nameOf,
  Remaining,
  TokenStatus,
} from '../../components/token-parts.tsx'
import { Button } from '../../components/ui/button.tsx'
import { CopyField } from '../../components/ui/copy-field.tsx'
import { Drawer, type DrawerSteps } from '../../components/ui/drawer.tsx'
import { Kpi } from '../../components/ui/kpi.tsx'
import { DetailsSkeleton, ErrorState, RowsSkeleton } from '../../components/ui/states.tsx'
import { formatTime, useFormatQuota, useFormatSum } from '../../lib/format.ts'
import { sessionUser } from '../../lib/session.ts'
import { useText } from '../../lib/text.ts'
import { isKeyUnknown, keyOf, maskedKey } from '../../lib/token-key.ts'
import { toggleToken } from './actions.tsx'
import { AppSetups } from './app-setups.tsx'
import { tokenLogsQuery, tokenQuery, tokenSpentQuery } from './queries.ts'
import { SnippetTabs } from './snippet-tabs.tsx'

interface TokenPeekProps {
  id: string
  steps: DrawerSteps | undefined
  onClose(): void
  onEdit(token: Token): void
}

/** The drawer of a token, with its key, figures, latest calls and instructions for use. */
export function TokenPeek({ id, steps, onClose, onEdit }: TokenPeekProps) {
  const t = useText()
  const query = useQuery(tokenQuery(id))
  const token = query.data
  return (
    <Drawer
      open
      onClose={onClose}
      steps={steps}
      title={token ? nameOf(token, t) : t('token.peek.title')}
      aside={token && <TokenStatus token={token} />}
      footer={token && <Actions token={token} onEdit={onEdit} />}
    >
      {query.isPending && <DetailsSkeleton />}
      {query.isError && (
        <ErrorState title={t('token.notFound')} text={query.error.message} onRetry={() => void query.refetch()} />
      )}
      {token && <Details key={token.id} token={token} />}
    </Drawer>
  )
}

function Actions({ token, onEdit }: { token: Token; onEdit(token: Token): void }) {
  const t = useText()
  const blocked = blockedReason(token.status, t)
  return (
    <>
      <Button
        disabled={blocked !== undefined}
        title={blocked}
        onClick={() => void toggleToken(token).catch(() => undefined)}
      >
        {t(token.status === tokenStatus.enabled ? 'do.disable' : 'do.enable')}
      </Button>
      <Button onClick={() => onEdit(token)}>{t('do.edit')}</Button>
    </>
  )
}

function Details({ token }: { token: Token }) {
  const t = useText()
  const formatSum = useFormatSum()
  const spent = useQuery(tokenSpentQuery(token.name))
  return (
    <>
      {isKeyUnknown(token) ? (
        <p className="text-muted text-sm">{t('token.keyUnknown.why')}</p>
      ) : (
        <CopyField label={t('token.key')} value={keyOf(token)} masked={maskedKey(token)} />
      )}
      {hasOldKey(token) && (
        <p className="text-sm text-muted">{t('token.oldKey', { time: formatTime(token.old_key_until) })}</p>
      )}
      <div className="grid grid-cols-2 gap-3">
        <Kpi
          label={t('token.peek.use')}
          loading={spent.isPending}
          value={spent.data ? formatSum(spent.data.quota) : '–'}
        />
        <Kpi label={t('token.used')} value={formatSum(token.used_quota)} />
      </div>
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5 text-sm">
        <Fact name={t('token.remaining')}>
          <Remaining token={token} />
        </Fact>
        <Fact name={t('token.expiry')}>
          <Expiry token={token} />
        </Fact>
        <Fact name={t('token.accessed')}>
          <LastUse token={token} />
        </Fact>
        <Fact name={t('token.created')}>
          <Moment seconds={token.created_time} none="" />
        </Fact>
        {token.project && <Fact name={t('token.project')}>{token.project}</Fact>}
        {token.group && <Fact name={t('token.group')}>{token.group}</Fact>}
        <Fact name={t('token.models')}>{token.models || t('token.allModels')}</Fact>
        <Fact name={t('token.subnet')}>{token.subnet || t('token.anywhere')}</Fact>
      </dl>
      <Limits of={token} />
      <RecentUse filter={{ token_name: token.name, username: sessionUser()?.username }} />
      <Calls token={token} />
      <section aria-label={t('token.peek.code')}>
        <h3 className="mb-2 text-sm font-medium">{t('token.peek.code')}</h3>
        <SnippetTabs token={token} masked />
      </section>
      <AppSetups token={token} masked />
    </>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted first-letter:uppercase">{name}</dt>
      <dd className="num min-w-0 text-end break-words">{children}</dd>
    </>
  )
}

function Calls({ token }: { token: Token }) {
  const t = useText()
  const formatQuota = useFormatQuota()
  const logs = useQuery(tokenLogsQuery(token.name))
  return (
    <section aria-label={t('token.peek.logs')}>
      <div className="mb-1 flex items-baseline justify-between gap-2">
        <h3 className="text-sm font-medium">{t('token.peek.logs')}</h3>
        <Link to="/log" search={{ token: token.name } as never} className="text-sm text-link hover:underline">
          {t('token.peek.allLogs')}
        </Link>
      </div>
      {logs.isPending && <RowsSkeleton className="h-24 border-0!" />}
      {logs.isError && <p className="text-sm text-bad">{logs.error.message}</p>}
      {logs.data?.length === 0 && <p className="text-sm text-muted">{t('token.peek.noLogs')}</p>}
      <ul className="num divide-y divide-line text-sm">
        {logs.data?.map((log, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: some servers give every row the id 0
          <li key={index} className="flex items-center gap-3 py-1.5">
            <span className="text-muted">{formatTime(log.created_at)}</span>
            <span className="min-w-0 flex-1 truncate">{log.model_name}</span>
            <span>{formatQuota(log.quota, 6)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
