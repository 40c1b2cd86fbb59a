import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleCheck } from 'lucide-react'
import { useState } from 'react'
import type { AttentionItem, AttentionKind, Overview } from '../../../contract/api/overview.ts'
import { currencyText } from '../../../contract/quota.ts'
import { type DotColor, dotMark, Status } from '../../components/ui/badge.tsx'
import { Button, buttonClass } from '../../components/ui/button.tsx'
import { Card } from '../../components/ui/page.tsx'
import { RowsSkeleton, Skeleton } from '../../components/ui/states.tsx'
import { formatCount, formatPercent, formatRelative, formatSum, formatTime } from '../../lib/format.ts'
import { languageTag, type Text, useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { useFocusInPlace } from '../../lib/use-focus-in-place.ts'
import { channelsQuery, testAndEnable } from './queries.ts'

/** The number of items shown at first. */
const shownAtFirst = 6

const colors: Readonly<Record<AttentionKind, DotColor>> = {
  channel_off: 'red',
  channel_failing: 'red',
  channel_cooling: 'yellow',
  model_no_route: 'orange',
  model_no_price: 'orange',
  backup_failed: 'red',
  backup_old: 'orange',
  log_copy_failed: 'orange',
  balance_low: 'yellow',
  price_held: 'yellow',
  price_feed_failed: 'orange',
  channel_loss: 'orange',
  person_no_quota: 'yellow',
  spend_jump: 'yellow',
  backup_none: 'grey',
}

/** One line that says either that everything is all right, or what needs attention. */
export function StatusLine({ overview }: { overview: Overview | undefined }) {
  const t = useText()
  const channels = useQuery(channelsQuery)
  if (!overview) return <Skeleton className="h-6 w-64 max-w-full" />
  // `backup_none` is only a hint and does not mean that something is wrong.
  const wrong = overview.attention.filter(({ kind }) => kind !== 'backup_none')
  const kinds = [...Map.groupBy(wrong, ({ kind }) => kind)]
  const parts = kinds.map(([kind, items]) => t(`home.count.${kind}`, { count: items.length }))
  const worst = wrong[0]
  // An installation without channels cannot serve anything yet, so it is not "all good", even if nothing is wrong.
  const isEmpty = channels.data?.any === false
  const color = worst ? colors[worst.kind] : isEmpty ? 'grey' : 'green'
  return (
    <p className="flex min-h-6 flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
      <span role="status" className="flex items-baseline gap-2 text-base font-medium">
        <span className={`size-2 shrink-0 self-center rounded-full ${dotMark[color]}`} aria-hidden="true" />
        {worst ? listOf(parts) : t(isEmpty ? 'home.overview.empty' : 'home.overview.good')}
      </span>
      <span className="num text-sm text-muted">
        {t('home.overview.updated', { time: formatTime(overview.time).slice(11) })}
      </span>
    </p>
  )
}

function listOf(parts: readonly string[]): string {
  return new Intl.ListFormat(languageTag(), { type: 'unit', style: 'short' }).format(parts)
}

/** What an administrator should look at. Each item has the action that fixes it. */
export function Attention({ items }: { items: readonly AttentionItem[] | undefined }) {
  const t = useText()
  const [all, setAll] = useState(false)
  const inPlace = useFocusInPlace()
  const shown = all ? items : items?.slice(0, shownAtFirst)
  return (
    <Card title={t('home.attention')}>
      <div {...inPlace} tabIndex={-1} className="min-h-40 outline-none">
        {!items && <RowsSkeleton className="h-40 border-0!" />}
        {items?.length === 0 && (
          <p className="flex items-center justify-center gap-2 py-14 text-sm text-muted">
            <CircleCheck className="size-4 text-good" aria-hidden="true" />
            {t('home.attention.none')}
          </p>
        )}
        <ul className="-my-2 divide-y divide-line">
          {shown?.map((item) => (
            <Line key={`${item.kind} ${item.target.id} ${item.target.name} ${item.reason}`} item={item} />
          ))}
        </ul>
        {items && !all && items.length > shownAtFirst && (
          <Button look="quiet" size="small" className="mt-2" onClick={() => setAll(true)}>
            {t('home.attention.more', { count: items.length })}
          </Button>
        )}
      </div>
    </Card>
  )
}

function Line({ item }: { item: AttentionItem }) {
  const t = useText()
  const { type } = item.target
  const name = type === 'backup' || type === 'log_copy' ? t(`home.target.${type}`) : item.target.name
  return (
    <li className="flex min-h-12 flex-wrap items-center gap-x-3 gap-y-1 py-2 text-sm">
      <span className="min-w-40 flex-1">
        <span className="flex flex-wrap items-baseline gap-x-2">
          <Status color={colors[item.kind]}>
            <span className="max-w-64 truncate font-medium" title={name} data-verbatim>
              {name}
            </span>
          </Status>
          <time className="text-xs text-muted" title={formatTime(item.since)}>
            {formatRelative(item.since)}
          </time>
        </span>
        <span className="line-clamp-2 break-words text-muted" title={sentence(item, t)}>
          {sentence(item, t)}
        </span>
      </span>
      <Act item={item} />
    </li>
  )
}

function sentence({ kind, reason, count, failed, amount, limit }: AttentionItem, t: Text): string {
  if (kind === 'channel_failing') {
    const share = formatPercent(failed / Math.max(1, count), 0)
    return t('home.item.channel_failing', { failed: formatCount(failed), count: formatCount(count), share })
  }
  if (kind === 'balance_low') {
    return t('home.item.balance_low', { amount: currencyText('$', amount), limit: currencyText('$', limit) })
  }
  const values = { reason, count, amount: formatSum(amount), limit: formatSum(limit) }
  return t(`home.item.${kind}`, values)
}

function Act({ item: { act, target } }: { item: AttentionItem }) {
  const t = useText()
  const label = t(`home.act.${act}`)
  const look = buttonClass({ size: 'small' })
  if (act === 'test_and_enable') return <TestAndEnable target={target} />
  if (act === 'open_channel') {
    return (
      <Link to="/channel" search={{ peek: String(target.id) }} className={look}>
        {label}
      </Link>
    )
  }
  if (act === 'give_quota') {
    return (
      <Link to="/user" search={{ peek: String(target.id) }} className={look}>
        {label}
      </Link>
    )
  }
  if (act === 'open_usage') {
    return (
      <Link to="/usage" search={{ user: target.name, range: '30d', group: 'token' }} className={look}>
        {label}
      </Link>
    )
  }
  const [to, search, hash] =
    act === 'add_channel'
      ? (['/channel/add', {}, ''] as const)
      : act === 'open_backups'
        ? (['/setting', { tab: 'system' }, 'backup'] as const)
        : act === 'open_log_copy'
          ? (['/setting', { tab: 'system' }, 'log-copy'] as const)
          : (['/setting', { tab: 'operation' }, 'ratios'] as const)
  return (
    <Link to={to} search={search} hash={hash} className={look}>
      {label}
    </Link>
  )
}

function TestAndEnable({ target: { id, name } }: { target: AttentionItem['target'] }) {
  const t = useText()
  const [busy, setBusy] = useState(false)
  const run = async () => {
    setBusy(true)
    try {
      await testAndEnable(id)
      toast.success(t('home.act.enabled', { name }))
    } catch {
      // The call has already shown the error.
    }
    setBusy(false)
  }
  return (
    <span className="flex min-w-0 flex-wrap gap-2">
      <Button size="small" busy={busy} onClick={() => void run()}>
        {t('home.act.test_and_enable')}
      </Button>
      <Link to="/channel" search={{ peek: String(id) }} className={buttonClass({ look: 'quiet', size: 'small' })}>
        {t('home.act.open_channel')}
      </Link>
    </span>
  )
}
