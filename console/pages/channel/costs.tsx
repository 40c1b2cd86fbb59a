import { useQuery } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import type { Channel } from '../../../contract/api/channel.ts'
import { Button } from '../../components/ui/button.tsx'
import { Skeleton } from '../../components/ui/states.tsx'
import { lazy } from '../../lib/lazy.ts'
import { useText } from '../../lib/text.ts'
import { nameOf } from './channel-parts.tsx'
import { CostsFeed } from './costs-feed.tsx'
import { costsQuery } from './costs-query.ts'

const CostsDialog = lazy(() => import('./costs-dialog.tsx').then((it) => ({ default: it.CostsDialog })))

/** A summary of what the upstream of a channel charges, and the button to change it. */
export function ChannelCosts({ channel }: { channel: Channel }) {
  const t = useText()
  const { data: costs, isPending } = useQuery(costsQuery(channel.id))
  const [open, setOpen] = useState(false)
  if (costs === null) return null
  const count = Object.keys(costs?.models ?? {}).length
  const isKnown = costs !== undefined && (costs.multiplier !== null || count > 0)
  return (
    <section aria-label={t('carry.costs.title')} className="text-sm">
      <h3 className="mb-2 font-medium">{t('carry.costs.title')}</h3>
      {isPending ? (
        <Skeleton className="h-14 w-full" />
      ) : (
        <>
          <p className="text-muted">
            {isKnown
              ? [
                  t('carry.costs.summary', { count }),
                  costs.multiplier !== null && t('carry.costs.others', { multiplier: String(costs.multiplier) }),
                ]
                  .filter(Boolean)
                  .join(' · ')
              : t('carry.costs.none')}
          </p>
          {costs && (
            <CostsFeed id={channel.id} name={nameOf(channel, t)} costs={costs}>
              <Button size="small" onClick={() => setOpen(true)}>
                {t(isKnown ? 'carry.costs.edit' : 'carry.costs.set')}
              </Button>
            </CostsFeed>
          )}
        </>
      )}
      {open && costs && (
        <Suspense>
          <CostsDialog id={channel.id} name={nameOf(channel, t)} costs={costs} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </section>
  )
}
