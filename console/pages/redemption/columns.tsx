import { Link } from '@tanstack/react-router'
import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import type { Redemption } from '../../../contract/api/redemption.ts'
import { Amount } from '../../components/amount.tsx'
import type { Column } from '../../components/data-table/types.ts'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { statusNow } from '../../lib/code-status.ts'
import { formatRelative, formatTime } from '../../lib/format.ts'
import { type Text, useText } from '../../lib/text.ts'
import { CodeStatus, nameOf, statusText } from './code-parts.tsx'

/** The columns of the list; `copy` copies a code to the clipboard. */
export function redemptionColumns(t: Text, copy: (code: Redemption) => Promise<boolean>): Column<Redemption>[] {
  return [
    {
      id: 'id',
      header: t('redemption.id'),
      cell: (code) => code.id,
      value: (code) => code.id,
      sortable: true,
      align: 'end',
      skeleton: 'w-8',
    },
    {
      id: 'name',
      header: t('redemption.name'),
      cell: (code) => <span className="block max-w-48 truncate">{nameOf(code, t)}</span>,
      value: (code) => code.name,
      sortable: true,
      required: true,
      card: 'title',
      skeleton: 'w-32',
    },
    {
      id: 'status',
      header: t('redemption.status'),
      cell: (code) => <CodeStatus code={code} />,
      value: (code) => statusText(statusNow(code), t),
      sortable: true,
      card: 'badge',
      skeleton: 'w-16',
    },
    {
      id: 'key',
      header: t('redemption.code'),
      cell: (code) => <KeyCell code={code} onCopy={() => copy(code)} />,
      skeleton: 'w-24',
    },
    {
      id: 'quota',
      header: t('redemption.quota'),
      cell: (code) => <Amount quota={code.quota} />,
      value: (code) => code.quota,
      sortable: true,
      align: 'end',
      skeleton: 'w-14',
    },
    {
      id: 'created_time',
      header: t('redemption.created'),
      cell: (code) => <When seconds={code.created_time} />,
      value: (code) => code.created_time,
      sortable: true,
      wraps: true,
    },
    {
      id: 'redeemed_time',
      header: t('redemption.redeemed'),
      cell: (code) =>
        code.redeemed_time ? (
          <When seconds={code.redeemed_time} />
        ) : (
          <span className="text-muted">{t('redemption.notRedeemed')}</span>
        ),
      value: (code) => code.redeemed_time,
      sortable: true,
      wraps: true,
    },
    {
      id: 'redeemed_user_id',
      header: t('redemption.redeemedBy'),
      cell: (code) =>
        code.redeemed_user_id ? (
          <Link
            to="/user"
            search={{ peek: String(code.redeemed_user_id) }}
            className="block max-w-40 truncate text-link hover:underline"
          >
            {redeemerOf(code, t)}
          </Link>
        ) : (
          ''
        ),
      value: (code) => code.redeemed_user_id,
      exported: (code) => (code.redeemed_user_id ? redeemerOf(code, t) : ''),
      sortable: true,
      skeleton: 'w-16',
    },
    {
      id: 'expired_time',
      header: t('redemption.expiry'),
      cell: (code) =>
        code.expired_time > 0 ? (
          <When seconds={code.expired_time} />
        ) : (
          <span className="text-muted">{t('redemption.never')}</span>
        ),
      value: (code) => code.expired_time,
      sortable: true,
      hidden: true,
      wraps: true,
    },
  ]
}

/** The username, or the user's number if the user has been deleted or the server does not report the name. */
function redeemerOf({ redeemed_username, redeemed_user_id }: Redemption, t: Text): string {
  return redeemed_username || t('redemption.redeemedBy.id', { id: redeemed_user_id })
}

function When({ seconds }: { seconds: number }) {
  return <time title={formatRelative(seconds)}>{formatTime(seconds)}</time>
}

function KeyCell({ code, onCopy }: { code: Redemption; onCopy(): Promise<boolean> }) {
  const t = useText()
  const [copied, setCopied] = useState(false)
  const name = nameOf(code, t)
  const copy = async () => {
    if (!(await onCopy())) return
    setCopied(true)
    setTimeout(() => setCopied(false), 1500)
  }
  return (
    <span className="inline-flex items-center gap-0.5">
      <code className="font-mono text-xs text-muted">••••{code.key.slice(-4)}</code>
      <IconButton
        label={`${t('redemption.copy')}: ${name}`}
        icon={copied ? <Check className="text-good" /> : <Copy />}
        onClick={() => void copy()}
      />
    </span>
  )
}
