import { Check, Copy, Eye, EyeOff } from 'lucide-react'
import { useState } from 'react'
import type { Token } from '../../../contract/api/token.ts'
import { Amount } from '../../components/amount.tsx'
import { Cut } from '../../components/data-table/cut.tsx'
import type { Column } from '../../components/data-table/types.ts'
import {
  Expiry,
  hasOldKey,
  LastUse,
  lastUse,
  Moment,
  nameOf,
  Remaining,
  statusOf,
  statusText,
  TokenStatus,
} from '../../components/token-parts.tsx'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { formatTime } from '../../lib/format.ts'
import { type Text, useText } from '../../lib/text.ts'
import { isKeyUnknown, keyOf, maskedKey } from '../../lib/token-key.ts'

/** The columns of the list; `copy` copies a key to the clipboard, and `grouped` says whether tokens have projects. */
export function tokenColumns(t: Text, copy: (token: Token) => Promise<boolean>, grouped: boolean): Column<Token>[] {
  return [
    {
      id: 'name',
      header: t('token.name'),
      cell: (token) => <span className="block max-w-48 truncate sm:max-w-40">{nameOf(token, t)}</span>,
      value: (token) => token.name,
      sortable: true,
      required: true,
      card: 'title',
      skeleton: 'w-28',
    },
    {
      id: 'status',
      header: t('token.status'),
      cell: (token) => <TokenStatus token={token} />,
      value: (token) => statusText(statusOf(token), t),
      sortable: true,
      card: 'badge',
      skeleton: 'w-16',
    },
    {
      id: 'key',
      header: t('token.key'),
      cell: (token) =>
        isKeyUnknown(token) ? (
          <span className="text-muted">{t('token.keyUnknown')}</span>
        ) : (
          <>
            <KeyCell token={token} onCopy={() => copy(token)} />
            {hasOldKey(token) && (
              <span className="block text-xs text-muted">
                {t('token.oldKey', { time: formatTime(token.old_key_until) })}
              </span>
            )}
          </>
        ),
      skeleton: 'w-32',
    },
    ...(grouped ? [projectColumn(t)] : []),
    {
      id: 'used_quota',
      header: t('token.used'),
      cell: (token) => <Amount quota={token.used_quota} />,
      value: (token) => token.used_quota,
      sortable: true,
      align: 'end',
      skeleton: 'w-14',
    },
    {
      id: 'remain_quota',
      header: t('token.remaining'),
      cell: (token) => <Remaining token={token} />,
      value: (token) => (token.unlimited_quota ? t('value.unlimited') : token.remain_quota),
      sortable: true,
      align: 'end',
      skeleton: 'w-24',
    },
    {
      id: 'created_time',
      header: t('token.created'),
      cell: (token) => <Moment seconds={token.created_time} none="" />,
      value: (token) => token.created_time,
      sortable: true,
      card: 'hide',
      wraps: true,
    },
    {
      id: 'accessed_time',
      header: t('token.accessed'),
      cell: (token) => <LastUse token={token} />,
      value: (token) => lastUse(token) ?? t('token.notUsed'),
      sortable: true,
      card: 'hide',
      wraps: true,
    },
    {
      id: 'expired_time',
      header: t('token.expiry'),
      cell: (token) => <Expiry token={token} />,
      value: (token) => token.expired_time,
      sortable: true,
      wraps: true,
    },
  ]
}

function projectColumn(t: Text): Column<Token> {
  return {
    id: 'project',
    header: t('token.project'),
    cell: (token) => <Cut text={token.project ?? ''} width="max-w-28" />,
    value: (token) => token.project,
    sortable: true,
    skeleton: 'w-20',
  }
}

function KeyCell({ token, onCopy }: { token: Token; onCopy(): Promise<boolean> }) {
  const t = useText()
  const [shown, setShown] = useState(false)
  const [copied, setCopied] = useState(false)
  const name = nameOf(token, t)
  const copy = async () => {
    if (!(await onCopy())) return
    setCopied(true)
    setTimeout(() => setCopied(false), 1500)
  }
  return (
    <span className="inline-flex items-center gap-0.5">
      <code className={`font-mono text-xs ${shown ? 'break-all whitespace-normal select-all' : 'text-muted'}`}>
        {shown ? keyOf(token) : maskedKey(token)}
      </code>
      <IconButton
        label={t(shown ? 'token.hide' : 'token.reveal', { name })}
        aria-pressed={shown}
        icon={shown ? <EyeOff /> : <Eye />}
        onClick={() => setShown(!shown)}
      />
      <IconButton
        label={`${t('token.copy')}: ${name}`}
        icon={copied ? <Check className="text-good" /> : <Copy />}
        onClick={() => void copy()}
      />
    </span>
  )
}
