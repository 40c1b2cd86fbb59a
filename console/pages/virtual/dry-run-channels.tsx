import type { DryRunChannel } from '../../../contract/api/virtual-model.ts'
import { formatPercent, useFormatQuota } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'

/** The channels of a step: first those that would be called, in order, then those that would not, with the reasons. */
export function DryRunChannels({ channels }: { channels: readonly DryRunChannel[] }) {
  return (
    <ul className="divide-y divide-line text-sm">
      {channels.map((channel) => (
        <ChannelRow key={channel.id} channel={channel} />
      ))}
    </ul>
  )
}

function ChannelRow({ channel }: { channel: DryRunChannel }) {
  const t = useText()
  const { id, name, place, share, reason, detail, upstream_model: upstream } = channel
  return (
    <li className="flex flex-wrap justify-between gap-x-4 gap-y-1 px-3 py-2">
      <div className="min-w-0 flex-1 basis-48">
        <p className="break-words">
          <span>
            {place > 0 && `${place}. `}
            {name}
          </span>{' '}
          <span className="text-muted">#{id}</span>
        </p>
        <p className="break-words text-muted">{t('virtual.try.upstream', { model: upstream })}</p>
        {reason !== null && (
          <p className="break-words text-warn">
            {t(`virtual.reason.${reason}`)}
            {detail !== '' && ` (${detail})`}
          </p>
        )}
      </div>
      <dl className="num grid grid-cols-[auto_auto] content-start gap-x-3 gap-y-0.5">
        {place > 0 && <Line name={t('virtual.try.share')} value={formatPercent(share / 100, 0)} />}
        <Amounts channel={channel} />
      </dl>
    </li>
  )
}

/** The channel's price, and the highest amount that this request can cost there. */
function Amounts({ channel: { price, hold } }: { channel: DryRunChannel }) {
  const t = useText()
  const quota = useFormatQuota()
  if (!price) return null
  const { input, output } = price.rates
  return (
    <>
      {(input > 0 || output > 0) && (
        <Line
          name={t('virtual.try.price')}
          value={t('virtual.try.rates', { input: quota(input, 4), output: quota(output, 4) })}
        />
      )}
      {price.call > 0 && (
        <Line name={t('virtual.form.pricing')} value={t('virtual.try.perRequest', { price: quota(price.call, 6) })} />
      )}
      <Line name={t('virtual.try.hold.head')} value={quota(hold, 6)} />
    </>
  )
}

function Line({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd>{value}</dd>
    </>
  )
}
