import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { TimelineEntry } from '../../../contract/api/channel-health.ts'
import { type DotColor, Status } from '../../components/ui/badge.tsx'
import { Button } from '../../components/ui/button.tsx'
import { RowsSkeleton } from '../../components/ui/states.tsx'
import { formatTime } from '../../lib/format.ts'
import { type Text, useText } from '../../lib/text.ts'
import { useFocusInPlace } from '../../lib/use-focus-in-place.ts'
import { timelineQuery } from './queries.ts'

const shownAtFirst = 8

const actions = [
  'auto-disable',
  'auto-enable',
  'cool-down',
  'set-key-aside',
  'revive-key',
  'revive-keys',
  'remove-dead-keys',
  'create',
  'update',
  'copy',
  'set-costs',
  'sync-costs',
] as const

const colors: Readonly<Record<string, DotColor>> = {
  'channel.auto-disable': 'red',
  'channel.auto-enable': 'green',
  'channel.cool-down': 'yellow',
  'channel.set-key-aside': 'orange',
}

/** What happened to a channel, newest first: actions of the gateway, changes by people, and tests. */
export function Timeline({ id }: { id: number }) {
  const t = useText()
  const [all, setAll] = useState(false)
  const inPlace = useFocusInPlace()
  const { data, error, isPending } = useQuery(timelineQuery(id))
  if (data === null) return null
  const shown = all ? data : data?.slice(0, shownAtFirst)
  return (
    <section aria-label={t('channel.timeline')}>
      <div {...inPlace} tabIndex={-1} className="outline-none">
        <h3 className="mb-2 text-sm font-medium">{t('channel.timeline')}</h3>
        {isPending && <RowsSkeleton className="h-40 border-0!" />}
        {error && <p className="text-sm text-bad">{error.message}</p>}
        {data?.length === 0 && <p className="text-sm text-muted">{t('channel.timeline.none')}</p>}
        <ol className="divide-y divide-line text-sm">
          {shown?.map((entry, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: several things may happen in the same second
            <li key={`${entry.time} ${index}`} className="py-1.5">
              <span className="flex flex-wrap items-baseline justify-between gap-x-3">
                <Status color={entry.kind === 'test' ? (entry.ok ? 'green' : 'red') : (colors[entry.action] ?? 'grey')}>
                  {titleOf(entry, t)}
                </Status>
                <time className="num text-xs text-muted">{formatTime(entry.time)}</time>
              </span>
              {detailOf(entry, t) !== '' && (
                <span className="block ps-3 break-words text-muted" data-verbatim>
                  {detailOf(entry, t)}
                </span>
              )}
            </li>
          ))}
        </ol>
        {data && !all && data.length > shownAtFirst && (
          <Button look="quiet" size="small" className="mt-1" onClick={() => setAll(true)}>
            {t('channel.timeline.more', { count: data.length })}
          </Button>
        )}
      </div>
    </section>
  )
}

function titleOf({ kind, action, actor, ok }: TimelineEntry, t: Text): string {
  if (kind === 'test') return t(ok ? 'channel.timeline.testOk' : 'channel.timeline.testFailed')
  const known = actions.find((each) => action === `channel.${each}`)
  const what = known === undefined ? action : t(`channel.timeline.${known}`)
  return actor === '' ? what : t('channel.timeline.by', { what, name: actor })
}

function detailOf({ kind, ok, model, response_time, detail }: TimelineEntry, t: Text): string {
  if (kind !== 'test') return detail
  const took = t('channel.seconds', { seconds: (response_time / 1000).toFixed(2) })
  return [model, ok ? took : detail].filter((part) => part !== '').join(' · ')
}
