import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { User } from '../../../contract/api/user.ts'
import type { UserToken } from '../../../contract/api/user-access.ts'
import { tokenStatus } from '../../../contract/statuses.ts'
import { LastUse, nameOf, Remaining, TokenStatus } from '../../components/token-parts.tsx'
import { Badge } from '../../components/ui/badge.tsx'
import { Button } from '../../components/ui/button.tsx'
import { ErrorState, RowsSkeleton } from '../../components/ui/states.tsx'
import { useFormatQuota } from '../../lib/format.ts'
import { text, useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { toastWithUndo } from '../../lib/undo.ts'
import { setUserTokenStatus, userTokensQuery } from './access-queries.ts'
import { Pager } from './pager.tsx'

/** The tokens of a user, without their keys; each can be disabled and enabled. */
export function UserTokens({ user }: { user: User }) {
  const t = useText()
  const [page, setPage] = useState(0)
  const { data: shown, error, isPending, isPlaceholderData, refetch } = useQuery(userTokensQuery(user.id, page))
  if (isPending) return <RowsSkeleton className="h-64 border-0!" />
  if (error)
    return <ErrorState title={t('user.peek.tokensError')} text={error.message} onRetry={() => void refetch()} />
  if (shown.total === 0) return <p className="text-sm text-muted">{t('user.peek.noTokens')}</p>
  return (
    <>
      <p className="text-sm text-muted">{t('user.peek.tokens.hint')}</p>
      <ul
        aria-label={t('user.peek.tab.tokens')}
        className={`divide-y divide-line text-sm ${isPlaceholderData ? 'opacity-60' : ''}`}
      >
        {shown.data.map((token) => (
          <TokenLine key={token.id} user={user} token={token} />
        ))}
      </ul>
      <Pager page={page} rows={shown.data.length} total={shown.total} onPage={setPage} />
    </>
  )
}

function TokenLine({ user, token }: { user: User; token: UserToken }) {
  const t = useText()
  const formatQuota = useFormatQuota()
  const [busy, setBusy] = useState(false)
  const disabled = token.status === tokenStatus.disabled
  const name = nameOf(token, t)
  const toggle = async () => {
    setBusy(true)
    // If the call fails, it shows its own error.
    await setStatus(user, token, name).catch(() => undefined)
    setBusy(false)
  }
  return (
    <li className="flex flex-col gap-1.5 py-2.5">
      <div className="flex items-center gap-2">
        <span className="min-w-0 truncate font-medium">{name}</span>
        {token.group !== '' && <Badge title={t('user.peek.group')}>{token.group}</Badge>}
        {token.project !== '' && <Badge title={t('user.peek.project')}>{token.project}</Badge>}
        <span className="ml-auto shrink-0">
          <TokenStatus token={token} />
        </span>
        <Button size="small" busy={busy} onClick={() => void toggle()} aria-label={`${actOf(disabled)}: ${name}`}>
          {actOf(disabled)}
        </Button>
      </div>
      <dl className="num grid grid-cols-[1fr_1.4fr_1.4fr] gap-x-4">
        <Figure name={t('user.peek.used')}>{formatQuota(token.used_quota)}</Figure>
        <Figure name={t('token.remaining')}>
          <Remaining token={token} />
        </Figure>
        <Figure name={t('user.peek.lastUsed')}>
          <LastUse token={token} />
        </Figure>
      </dl>
    </li>
  )

  function actOf(off: boolean): string {
    return t(off ? 'do.enable' : 'do.disable')
  }
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-muted first-letter:uppercase">{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** Switches a token between enabled and disabled and offers to undo the change. */
async function setStatus(user: User, token: UserToken, name: string): Promise<void> {
  const enable = token.status === tokenStatus.disabled
  await setUserTokenStatus(user, token, enable ? tokenStatus.enabled : tokenStatus.disabled)
  const message = text(enable ? 'table.toggled.enabled' : 'table.toggled.disabled', { name })
  // An expired or exhausted token that was disabled cannot be enabled again.
  if (!enable && token.status !== tokenStatus.enabled) toast.success(message)
  else toastWithUndo(message, () => setUserTokenStatus(user, token, token.status))
}
