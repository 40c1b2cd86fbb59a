import type { AttentionItem, Overview, OwnOverview } from '../../contract/api/overview.ts'
import { tokenStatus } from '../../contract/statuses.ts'
import type { DotColor } from '../lib/dot-color.ts'
import type { BellEntry } from './bell-entries.ts'

const colors: Readonly<Partial<Record<AttentionItem['kind'], DotColor>>> = {
  channel_off: 'red',
  channel_failing: 'red',
  backup_failed: 'red',
  model_no_route: 'orange',
  model_no_price: 'orange',
}

/** The entries for an administrator. */
export function entriesOf({ attention }: Overview): BellEntry[] {
  // `backup_none` is only a hint, so it gets no entry.
  return attention
    .filter(({ kind }) => kind !== 'backup_none')
    .map((item) => ({
      id: `${item.kind} ${item.target.type} ${item.target.id} ${item.target.name} ${item.since}`,
      color: colors[item.kind] ?? 'yellow',
      what: { kind: 'item', item },
      since: item.since,
      to: placeOf(item),
    }))
}

function placeOf({ target: { type, id, name }, kind }: AttentionItem): BellEntry['to'] {
  if (type === 'channel') return { to: '/channel', search: { peek: String(id) } }
  if (type === 'backup' || type === 'log_copy') return { to: '/setting', search: { tab: 'system' } }
  if (type === 'user') return { to: '/user', search: { peek: String(id) } }
  return kind === 'model_no_price'
    ? { to: '/setting', search: { tab: 'operation' } }
    : { to: '/log', search: { model: name, outcome: 'failed' } }
}

/** Users are told if their balance lasts for fewer days than this. */
const lowDays = 3
/** Events of a token that are older than this are not shown. */
const freshSeconds = 7 * 86_400

/** The entries about a user's own account. `now` is in epoch seconds. */
export function ownEntriesOf({ balance, days_left, tokens }: OwnOverview, now: number): BellEntry[] {
  const days = days_left === null || days_left >= lowDays ? undefined : days_left
  const money: BellEntry[] =
    balance <= 0
      ? [{ id: 'no balance', color: 'red', what: { kind: 'no_balance' }, to: { to: '/topup' } }]
      : days === undefined
        ? []
        : [{ id: 'low balance', color: 'yellow', what: { kind: 'low_balance', days }, to: { to: '/topup' } }]
  const ended = tokens.flatMap(({ id, name, status, expired_time, accessed_time }): BellEntry[] => {
    if (status !== tokenStatus.expired && status !== tokenStatus.exhausted) return []
    const since = status === tokenStatus.expired && expired_time > 0 ? expired_time : accessed_time
    if (now - since > freshSeconds) return []
    const to = { to: '/token', search: { peek: String(id) } }
    return [{ id: `token ${id} ${status} ${since}`, color: 'orange', what: { kind: 'token', name, status }, since, to }]
  })
  return [...money, ...ended]
}
