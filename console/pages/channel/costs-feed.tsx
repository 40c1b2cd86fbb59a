import { type ReactNode, useState } from 'react'
import {
  type CostsWithFeed,
  channelCostsApi,
  type FeedInput,
  longestFeedHours,
  type PriceFeed,
} from '../../../contract/api/channel-costs.ts'
import { Banner } from '../../components/ui/banner.tsx'
import { Button } from '../../components/ui/button.tsx'
import { Dialog } from '../../components/ui/dialog.tsx'
import { Input } from '../../components/ui/input.tsx'
import { call } from '../../lib/call.ts'
import { formatTime } from '../../lib/format.ts'
import { queryClient } from '../../lib/query-client.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { shortCost } from './costs-import.tsx'
import { costsQuery } from './costs-query.ts'
import { labelClass, type PriceList, PriceListFields } from './price-list-fields.tsx'

interface CostsFeedProps {
  id: number
  name: string
  costs: CostsWithFeed
  /** Other buttons for the costs, which come first. */
  children: ReactNode
}

/**
 * Runs a call that changes the costs, and shows the costs as they are then stored. Returns false if the call failed.
 */
async function changing(id: number, change: () => Promise<CostsWithFeed>): Promise<boolean> {
  try {
    queryClient.setQueryData(costsQuery(id).queryKey, await change())
    await queryClient.invalidateQueries({ queryKey: ['channel', 'timeline', id] })
    return true
  } catch {
    // The call has already shown the error.
    return false
  }
}

/** A channel's price list that the server reads on a schedule: the last check, and the prices awaiting confirmation. */
export function CostsFeed({ id, name, costs, children }: CostsFeedProps) {
  const t = useText()
  const { feed } = costs
  const [open, setOpen] = useState(false)
  const [busy, setBusy] = useState(false)
  const check = async () => {
    setBusy(true)
    await changing(id, () => call(channelCostsApi.checkFeed, { params: { id } }))
    setBusy(false)
  }
  return (
    <div className="mt-2 flex flex-col gap-2">
      {feed && <LastCheck feed={feed} />}
      {feed && <Held id={id} costs={costs} />}
      <div className="flex flex-wrap gap-2">
        {children}
        {feed !== undefined && (
          <Button size="small" onClick={() => setOpen(true)}>
            {t(feed ? 'carry.feed.edit' : 'carry.feed.set')}
          </Button>
        )}
        {feed && (
          <Button size="small" busy={busy} onClick={() => void check()}>
            {t('carry.feed.check')}
          </Button>
        )}
      </div>
      {open && feed !== undefined && <FeedDialog id={id} name={name} feed={feed} onClose={() => setOpen(false)} />}
    </div>
  )
}

function LastCheck({ feed }: { feed: PriceFeed }) {
  const t = useText()
  const { every_hours: hours, checked_at: checked, changed_at: changed, error } = feed
  return (
    <>
      <p className="text-muted">
        {[
          t('carry.feed.every', { hours }),
          checked > 0 && t('carry.feed.checked', { time: formatTime(checked) }),
          changed > 0 && t('carry.feed.changed', { time: formatTime(changed) }),
        ]
          .filter(Boolean)
          .join(' · ')}
      </p>
      {error !== '' && (
        <Banner kind="warn">
          <span className="break-words" data-verbatim>
            {t('carry.feed.failed', { reason: error })}
          </span>
        </Banner>
      )}
    </>
  )
}

function Held({ id, costs: { feed, models } }: { id: number; costs: CostsWithFeed }) {
  const t = useText()
  const held = Object.entries(feed?.held ?? {})
  if (held.length === 0) return null
  const decide = (body: { use?: string[]; refuse?: string[] }) =>
    void changing(id, () => call(channelCostsApi.decideHeld, { params: { id }, body }))
  return (
    <section aria-label={t('carry.feed.held')}>
      <div className="flex flex-wrap items-center gap-3">
        <p className="min-w-0 flex-1 text-warn">{t('carry.feed.held.text', { count: held.length })}</p>
        {held.length > 1 && (
          <Button size="small" onClick={() => decide({ use: held.map(([model]) => model) })}>
            {t('carry.feed.use.all')}
          </Button>
        )}
      </div>
      <ul className="num divide-y divide-line">
        {held.map(([model, { cost, usual }]) => (
          <li key={model} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1.5">
            <span className="min-w-0 flex-1 break-all">{model}</span>
            {usual && <span className="text-muted">{t('carry.costs.usual', { price: shortCost(usual) })}</span>}
            <span>
              {[models[model], cost]
                .filter((each) => each !== undefined)
                .map(shortCost)
                .join(' → ')}
            </span>
            <Button
              size="small"
              aria-label={t('carry.feed.use.of', { model })}
              onClick={() => decide({ use: [model] })}
            >
              {t('carry.feed.use')}
            </Button>
            <Button
              size="small"
              aria-label={t(usual ? 'carry.feed.leave.of' : 'carry.feed.refuse.of', { model })}
              onClick={() => decide({ refuse: [model] })}
            >
              {t(usual ? 'carry.feed.leave' : 'carry.feed.refuse')}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  )
}

interface FeedDialogProps {
  id: number
  name: string
  feed: PriceFeed | null
  onClose(): void
}

function FeedDialog({ id, name, feed, onClose }: FeedDialogProps) {
  const t = useText()
  const [list, setList] = useState<PriceList>(feed ?? { kind: 'gateway', url: '', group: '' })
  const [hours, setHours] = useState(String(feed?.every_hours ?? 24))
  const [busy, setBusy] = useState(false)
  const save = async (next: FeedInput | null) => {
    setBusy(true)
    const done = await changing(id, () => call(channelCostsApi.setFeed, { params: { id }, body: { feed: next } }))
    setBusy(false)
    if (!done) return
    toast.success(t(next ? 'carry.feed.saved' : 'carry.feed.stopped'))
    onClose()
  }
  const { kind, url, group } = list
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('carry.feed.of', { name })}
      text={t('carry.feed.text')}
      footer={
        <>
          {feed && (
            <Button className="me-auto text-bad!" busy={busy} onClick={() => void save(null)}>
              {t('carry.feed.stop')}
            </Button>
          )}
          <Button onClick={onClose}>{t('do.cancel')}</Button>
          <Button
            look="primary"
            busy={busy}
            onClick={() => void save({ kind, url, group: kind === 'gateway' ? group : '', every_hours: Number(hours) })}
          >
            {t('do.save')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <PriceListFields list={list} onChange={(change) => setList({ ...list, ...change })} />
        <label className={labelClass}>
          {t('carry.feed.hours')}
          <Input
            type="number"
            min={1}
            max={longestFeedHours}
            className="max-w-40"
            value={hours}
            onChange={(event) => setHours(event.target.value)}
          />
        </label>
      </div>
    </Dialog>
  )
}
