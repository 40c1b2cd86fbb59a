import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, Suspense } from 'react'
import type { Channel } from '../../../contract/api/channel.ts'
import { logType } from '../../../contract/log-types.ts'
import { channelStatus } from '../../../contract/statuses.ts'
import { Groups } from '../../components/groups.tsx'
import { RecentUse } from '../../components/recent-use.tsx'
import { Badge, Status } from '../../components/ui/badge.tsx'
import { Banner } from '../../components/ui/banner.tsx'
import { Button } from '../../components/ui/button.tsx'
import { Drawer } from '../../components/ui/drawer.tsx'
import { DetailsSkeleton, ErrorState, RowsSkeleton, Skeleton } from '../../components/ui/states.tsx'
import { useConfirm } from '../../components/ui/use-confirm.tsx'
import { formatTime, useFormatSum } from '../../lib/format.ts'
import { lazy } from '../../lib/lazy.ts'
import { useClassicServer } from '../../lib/status.ts'
import { loadAreas, useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { test, toggleChannel } from './actions.tsx'
import { balanceText, ChannelStatus, listOf, nameOf, ResponseTime, TypeBadge } from './channel-parts.tsx'
import { LimitsOfChannel } from './limits-in-use.tsx'
import { careForKeys, channelQuery, isEnabled, keysQuery } from './queries.ts'
import { TestStrip } from './test-strip.tsx'
import { Timeline } from './timeline.tsx'

const ChannelCosts = lazy(async () => {
  const [it] = await Promise.all([import('./costs.tsx'), loadAreas(['carry'])])
  return { default: it.ChannelCosts }
})

/** The drawer of a channel, with its last tests, the health of its keys, and its models. */
export function ChannelPeek(props: { id: string; onClose(): void; onEdit(channel: Channel): void }) {
  const { id, onClose, onEdit } = props
  const t = useText()
  const query = useQuery(channelQuery(id))
  const channel = query.data
  return (
    <Drawer
      open
      onClose={onClose}
      title={channel ? nameOf(channel, t) : t('channel.title')}
      aside={channel && <ChannelStatus channel={channel} />}
      footer={
        channel && (
          <>
            <Button onClick={() => void toggleChannel(channel).catch(() => undefined)}>
              {t(isEnabled(channel) ? 'do.disable' : 'do.enable')}
            </Button>
            <Button onClick={() => void test(channel).catch(() => undefined)}>{t('channel.test')}</Button>
            <Button onClick={() => onEdit(channel)}>{t('do.edit')}</Button>
          </>
        )
      }
    >
      {query.isPending && <DetailsSkeleton />}
      {query.isError && (
        <ErrorState title={t('channel.notFound')} text={query.error.message} onRetry={() => void query.refetch()} />
      )}
      {channel && <Details channel={channel} />}
    </Drawer>
  )
}

function Details({ channel }: { channel: Channel }) {
  const t = useText()
  const formatSum = useFormatSum()
  const classic = useClassicServer()
  const mapping = channel.model_mapping.trim()
  return (
    <>
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5 text-sm">
        <Fact name={t('channel.type')}>
          <TypeBadge type={channel.type} />
        </Fact>
        <Fact name={t('channel.responseTime')}>
          <ResponseTime channel={channel} />
        </Fact>
        <Fact name={t('channel.balance')}>{balanceText(channel, t)}</Fact>
        {!classic && <Fact name={t('channel.used')}>{formatSum(channel.used_quota)}</Fact>}
        <Fact name={t('channel.group')}>
          <Groups group={channel.group} all />
        </Fact>
        {!classic && <Fact name={t('channel.priority')}>{channel.priority}</Fact>}
        {!classic && <Fact name={t('channel.weight')}>{channel.weight}</Fact>}
        <Fact name={t('channel.peek.address')}>{channel.base_url || t('channel.peek.defaultAddress')}</Fact>
        {!classic && <Fact name={t('channel.created')}>{formatTime(channel.created_time)}</Fact>}
      </dl>
      {channel.status_reason && <Reason channel={channel} />}
      <LimitsOfChannel id={channel.id} />
      <Tests id={channel.id} />
      {!classic && <Timeline id={channel.id} />}
      {!classic && <RecentUse filter={{ channel: String(channel.id) }} />}
      {!classic && (
        <Suspense fallback={<Skeleton className="h-20 w-full" />}>
          <ChannelCosts channel={channel} />
        </Suspense>
      )}
      {channel.key_count > 1 && <Keys channel={channel} />}
      <Missing places={channel.missing ?? []} />
      <section aria-label={t('channel.models')}>
        <h3 className="mb-2 text-sm font-medium">{t('channel.models')}</h3>
        <div className="flex flex-wrap gap-1">
          {listOf(channel.models).map((model) => (
            <Badge key={model}>{model}</Badge>
          ))}
        </div>
      </section>
      {mapping !== '' && mapping !== '{}' && (
        <section aria-label={t('channel.peek.mapping')}>
          <h3 className="mb-2 text-sm font-medium">{t('channel.peek.mapping')}</h3>
          <pre className="overflow-x-auto rounded-md bg-sunken p-2 font-mono text-xs">{mapping}</pre>
        </section>
      )}
      <Link to="/log" search={{ channel: String(channel.id) }} className="text-sm text-link hover:underline">
        {t('channel.peek.logs')}
      </Link>
    </>
  )
}

/** The gateway's last automatic action on the channel, the reason, and a link to earlier actions. */
function Reason({ channel }: { channel: Channel }) {
  const t = useText()
  return (
    <section aria-label={t('channel.peek.reason')} className="text-sm">
      <h3 className="mb-2 flex flex-wrap items-baseline justify-between gap-x-3 font-medium">
        {t('channel.peek.reason')}
        <time className="num font-normal text-muted">{formatTime(channel.status_time)}</time>
      </h3>
      <Banner kind={channel.status === channelStatus.enabled ? 'info' : 'warn'}>
        <span className="break-words" data-verbatim>
          {channel.status_reason}
        </span>
      </Banner>
      <Link
        to="/log"
        search={{ channel: String(channel.id), type: String(logType.system) }}
        className="mt-1 inline-block text-link hover:underline"
      >
        {t('channel.peek.events')}
      </Link>
    </section>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="num min-w-0 text-end break-words">{children}</dd>
    </>
  )
}

function Tests({ id }: { id: number }) {
  const t = useText()
  const classic = useClassicServer()
  if (classic) return null
  return (
    <section aria-label={t('channel.peek.tests')}>
      <h3 className="mb-2 text-sm font-medium">{t('channel.peek.tests')}</h3>
      <TestStrip id={id} />
    </section>
  )
}

/** API formats that the upstream has proved not to support, and why. Servers such as one-api do not report this. */
function Missing({ places }: { places: Channel['missing'] }) {
  const t = useText()
  if (places.length === 0) return null
  return (
    <section aria-label={t('channel.peek.missing')}>
      <h3 className="mb-2 text-sm font-medium">{t('channel.peek.missing')}</h3>
      <ul className="num divide-y divide-line text-sm">
        {places.map(({ what, reason, until }) => (
          <li key={what} className="flex flex-wrap items-center gap-x-3 py-1.5">
            <Status color="yellow">{what}</Status>
            <span className="min-w-0 flex-1 break-words text-muted">{reason}</span>
            <span className="text-muted">{t('channel.peek.missing.until', { time: formatTime(until) })}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Keys({ channel }: { channel: Channel }) {
  const t = useText()
  const keys = useQuery(keysQuery(channel.id))
  const [ask, question] = useConfirm()
  const care = async (action: 'revive' | 'remove') => {
    const count = await careForKeys(channel.id, action)
    toast.success(t(action === 'revive' ? 'channel.peek.revived' : 'channel.peek.removedDead', { count }))
  }
  const remove = () =>
    ask({
      title: t('channel.peek.removeDead.title', { count: channel.keys_dead, name: nameOf(channel, t) }),
      text: t('channel.peek.removeDead.text'),
      confirm: t('channel.peek.removeDead'),
      danger: true,
      onConfirm: () => care('remove'),
    })
  return (
    <section aria-label={t('channel.peek.keys')}>
      {question}
      <h3 className="mb-2 text-sm font-medium">{t('channel.peek.keys')}</h3>
      {keys.isPending && <RowsSkeleton className="h-16 border-0!" />}
      {keys.isError && <p className="text-sm text-bad">{keys.error.message}</p>}
      <ul className="num divide-y divide-line text-sm">
        {keys.data?.map((key) => (
          <li key={key.index} className="flex flex-wrap items-center gap-x-3 py-1.5">
            <span>{t('channel.peek.key', { index: key.index })}</span>
            <Status color={key.healthy ? 'green' : 'red'}>
              {t(key.healthy ? 'channel.peek.key.ok' : 'channel.peek.key.dead')}
            </Status>
            {!key.healthy && <span className="min-w-0 flex-1 truncate text-muted">{key.reason}</span>}
          </li>
        ))}
      </ul>
      {channel.keys_dead > 0 && (
        <div className="mt-2 flex flex-wrap gap-2">
          <Button size="small" onClick={() => void care('revive').catch(() => undefined)}>
            {t('channel.peek.revive')}
          </Button>
          <Button size="small" className="text-bad!" onClick={remove}>
            {t('channel.peek.removeDead')}
          </Button>
        </div>
      )}
    </section>
  )
}
