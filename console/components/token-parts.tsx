import type { Token } from '../../contract/api/token.ts'
import { type TokenState, tokenStatus, tokenStatusAt } from '../../contract/statuses.ts'
import { formatRelative, formatTime, useFormatQuota } from '../lib/format.ts'
import { type Text, useText } from '../lib/text.ts'
import { type DotColor, Status } from './ui/badge.tsx'

const colors: Readonly<Record<number, DotColor>> = {
  [tokenStatus.enabled]: 'green',
  [tokenStatus.disabled]: 'red',
  [tokenStatus.expired]: 'yellow',
  [tokenStatus.exhausted]: 'grey',
}
const soonSeconds = 7 * 86_400

/** True while the token's previous key is still accepted. */
export function hasOldKey({ old_key_until }: Token): boolean {
  return old_key_until > Date.now() / 1000
}

/** The display name of a token, with a substitute for an empty name. */
export function nameOf(token: Pick<Token, 'id' | 'name'>, t: Text): string {
  return token.name === '' ? t('token.unnamed', { id: token.id }) : token.name
}

/** The label of a status. */
export function statusText(status: number, t: Text): string {
  switch (status) {
    case tokenStatus.enabled:
      return t('token.status.1')
    case tokenStatus.disabled:
      return t('token.status.2')
    case tokenStatus.expired:
      return t('token.status.3')
    case tokenStatus.exhausted:
      return t('token.status.4')
    default:
      return t('status.unknown')
  }
}

/** Why a token cannot be enabled; undefined if it can. */
export function blockedReason(status: number, t: Text): string | undefined {
  if (status === tokenStatus.expired) return t('token.status.3.why')
  return status === tokenStatus.exhausted ? t('token.status.4.why') : undefined
}

/**
 * The status that applies to the next call. It can differ from the stored status, because the server marks a token as
 * expired or exhausted only when it is used.
 */
export function statusOf(token: TokenState): number {
  return tokenStatusAt(token, Date.now() / 1000)
}

/** The status that applies to the next call, as a dot and a word. */
export function TokenStatus({ token }: { token: TokenState }) {
  const t = useText()
  const status = statusOf(token)
  const why = blockedReason(status, t)
  return (
    <Status color={colors[status] ?? 'grey'} {...(why !== undefined && { title: why })}>
      {statusText(status, t)}
    </Status>
  )
}

/** The colour of the bar that shows the remaining share, from 0 to 1. */
function barColor(left: number): string {
  if (left < 0.05) return 'fill-red'
  return left < 0.2 ? 'fill-orange' : 'fill-accent'
}

/** The remaining quota, with the used share as a bar. For unlimited tokens, only a word. */
export function Remaining({ token }: { token: Pick<Token, 'unlimited_quota' | 'used_quota' | 'remain_quota'> }) {
  const t = useText()
  const formatQuota = useFormatQuota()
  if (token.unlimited_quota) return <span className="text-muted">{t('value.unlimited')}</span>
  const granted = token.used_quota + Math.max(0, token.remain_quota)
  const left = granted > 0 ? Math.max(0, token.remain_quota) / granted : 0
  return (
    <span className="inline-flex items-center gap-2">
      <svg
        viewBox="0 0 40 4"
        className="h-1 w-10 shrink-0 sm:max-[90rem]:hidden"
        aria-hidden="true"
        preserveAspectRatio="none"
      >
        <rect width="40" height="4" rx="2" className="fill-active" />
        <rect width={40 * left} height="4" rx="2" className={barColor(left)} />
      </svg>
      {formatQuota(token.remain_quota)}
    </span>
  )
}

/**
 * When a token expires, in words. The text is coloured if the token expires soon or has expired; its title is the exact
 * time.
 */
export function Expiry({ token }: { token: Token }) {
  const t = useText()
  if (token.expired_time === -1) return <span className="text-muted">{t('token.never')}</span>
  const left = token.expired_time - Date.now() / 1000
  const color = left < 0 ? 'text-bad' : left < soonSeconds ? 'text-warn' : ''
  const when = formatRelative(token.expired_time)
  return (
    <span className={color} title={t(left < 0 ? 'token.expired' : 'token.expires', { when })}>
      {formatTime(token.expired_time)}
    </span>
  )
}

/** A time in the console's format. Its title shows how long ago it was. */
export function Moment({ seconds, none }: { seconds: number; none: string }) {
  // Some servers do not report this time.
  if (!(seconds > 0)) return <span className="text-muted">{none}</span>
  return <time title={formatRelative(seconds)}>{formatTime(seconds)}</time>
}

type Used = Pick<Token, 'accessed_time' | 'created_time' | 'used_quota'>

/** When the token was last used; undefined if never. The server initially sets this time to the creation time. */
export function lastUse({ accessed_time, created_time, used_quota }: Used): number | undefined {
  return accessed_time > created_time || (used_quota > 0 && accessed_time > 0) ? accessed_time : undefined
}

/** How long ago the token was last used, with the exact time on hover. */
export function LastUse({ token }: { token: Used }) {
  const t = useText()
  const seconds = lastUse(token)
  if (seconds === undefined) return <span className="text-muted">{t('token.notUsed')}</span>
  return (
    // In a narrow column, the words take two lines and not three.
    <time className="inline-block min-w-19" title={formatTime(seconds)}>
      {formatRelative(seconds)}
    </time>
  )
}
