import {
  Ban,
  CircleCheck,
  Copy,
  ExternalLink,
  KeyRound,
  Link2,
  MessageSquare,
  Pencil,
  QrCode,
  RefreshCw,
  Trash2,
} from 'lucide-react'
import type { Token } from '../../../contract/api/token.ts'
import { tokenStatus } from '../../../contract/statuses.ts'
import type { BulkAction, RowAction } from '../../components/data-table/types.ts'
import type { CopyLines } from '../../components/data-table/use-copy-lines.tsx'
import { blockedReason, hasOldKey, nameOf } from '../../components/token-parts.tsx'
import type { Question } from '../../components/ui/use-confirm.tsx'
import { copyText } from '../../lib/clipboard.ts'
import { type Text, text } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { keyOf } from '../../lib/token-key.ts'
import { toastWithUndo } from '../../lib/undo.ts'
import { appLinks } from './app-links.ts'
import { endOldKey, removeToken, setTokenStatus } from './queries.ts'

/** Switches a token between enabled and disabled and offers to undo the change. */
export async function toggleToken(token: Token): Promise<void> {
  const enable = token.status !== tokenStatus.enabled
  const name = nameOf(token, text)
  const [next, before] = enable
    ? [tokenStatus.enabled, tokenStatus.disabled]
    : [tokenStatus.disabled, tokenStatus.enabled]
  await setTokenStatus(token, next)
  toastWithUndo(text(enable ? 'table.toggled.enabled' : 'table.toggled.disabled', { name }), () =>
    setTokenStatus(token, before),
  )
}

interface Handlers {
  copy(token: Token): Promise<boolean>
  edit(token: Token): void
  /** Asks for confirmation, then deletes. */
  remove(token: Token): void
  /** Opens the built-in chat with the token. */
  chat(token: Token): void
  /** Shows the QR code that sets up an app on a phone. */
  scan(token: Token): void
  /** Opens the dialog that gives the token a new key; undefined if the server cannot do that. */
  rotate: ((token: Token) => void) | undefined
  /** Asks for confirmation, then makes the token's previous key invalid. */
  endOldKey(token: Token): void
}

/** Actions for one token. */
export function tokenActions(token: Token, t: Text, on: Handlers): RowAction[] {
  const enabled = token.status === tokenStatus.enabled
  const blocked = blockedReason(token.status, t)
  const links = appLinks(keyOf(token))
  const { rotate } = on
  return [
    {
      id: 'copy',
      label: t('token.copy'),
      icon: <Copy />,
      keys: 'c',
      run: () => void on.copy(token),
    },
    { id: 'edit', label: t('do.edit'), icon: <Pencil />, primary: true, keys: 'e', run: () => on.edit(token) },
    {
      id: 'toggle',
      label: t(enabled ? 'do.disable' : 'do.enable'),
      icon: enabled ? <Ban /> : <CircleCheck />,
      primary: true,
      disabled: blocked !== undefined,
      hint: blocked,
      // If the call fails, it shows its own error.
      run: () => void toggleToken(token).catch(() => undefined),
    },
    ...(links.some((link) => link.id === 'next')
      ? []
      : [{ id: 'chat', label: t('token.app.chat'), icon: <MessageSquare />, run: () => on.chat(token) }]),
    ...links.map((link) => ({
      id: `open ${link.id}`,
      label: t('token.app.open', { app: t(link.name) }),
      icon: <ExternalLink />,
      run: () => void window.open(link.href, '_blank', 'noopener'),
    })),
    ...links.map((link) => ({
      id: `copy ${link.id}`,
      label: t('token.app.copy', { app: t(link.name) }),
      icon: <Link2 />,
      run: () => void copyText(link.href),
    })),
    { id: 'qr', label: t('token.qr'), icon: <QrCode />, run: () => on.scan(token) },
    ...(rotate ? [{ id: 'rotate', label: t('token.rotate'), icon: <RefreshCw />, run: () => rotate(token) }] : []),
    ...(hasOldKey(token)
      ? [{ id: 'end', label: t('token.oldKey.end'), icon: <KeyRound />, danger: true, run: () => on.endOldKey(token) }]
      : []),
    { id: 'delete', label: t('do.delete'), icon: <Trash2 />, danger: true, run: () => on.remove(token) },
  ]
}

/** Actions for several tokens. */
export function tokenBulk(t: Text, copy: CopyLines): BulkAction<Token>[] {
  return [
    {
      id: 'enable',
      label: t('do.enable'),
      applies: (token) => token.status === tokenStatus.disabled,
      run: (token) => setTokenStatus(token, tokenStatus.enabled),
    },
    {
      id: 'disable',
      label: t('do.disable'),
      applies: (token) => token.status === tokenStatus.enabled,
      run: (token) => setTokenStatus(token, tokenStatus.disabled),
    },
    {
      id: 'copy',
      label: t('do.copy'),
      open: (rows) => copy(rows.map(keyOf), t('token.copied', { count: rows.length })),
      run: async () => undefined,
    },
    {
      id: 'delete',
      label: t('do.delete'),
      danger: true,
      confirm: (rows) => ({
        title: t('table.delete.many', { count: rows.length }),
        text: t('token.delete.manyText'),
        typed: rows.length > 5 ? String(rows.length) : undefined,
      }),
      run: removeToken,
    },
  ]
}

/** The question asked before the previous key of a token is made invalid. */
export function endOldKeyQuestion(token: Token, t: Text): Question {
  return {
    title: t('token.oldKey.end.title', { name: nameOf(token, t) }),
    text: t('token.oldKey.end.text'),
    confirm: t('token.oldKey.end'),
    danger: true,
    onConfirm: async () => {
      await endOldKey(token.id)
      toast.success(t('token.oldKey.ended'))
    },
  }
}

/** Deletes a token and shows a toast. */
export async function deleteToken(token: Token): Promise<void> {
  await removeToken(token)
  toast.success(text('table.deleted', { name: nameOf(token, text) }))
}
