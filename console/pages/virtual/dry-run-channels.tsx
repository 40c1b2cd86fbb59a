import type { DryRunChannel } from '../../../contract/api/virtual-model.ts'
import { formatPercent, useFormatQuota } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'

/** The channels of a step in the order in which they are called, then those that are not, with the reasons. */
export function DryRunChannels({ channels }: { channels: readonly DryRunChannel[] }) {
  const t = useText()
  const heads = ['channel', 'share', 'price', 'hold.head'] as const
  return (
    <div className="overflow-x-auto">
      <table className="w-full text-sm">
        <thead>
          <tr className="text-left text-muted">
            {heads.map((head) => (
              <th key={head} scope="col" className="px-3 py-1.5 font-medium whitespace-nowrap">
                {t(`virtual.try.${head}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {channels.map((channel) => (
            <ChannelRow key={channel.id} channel={channel} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function ChannelRow({ channel }: { channel: DryRunChannel }) {
  const t = useText()
  const quota = useFormatQuota()
  const { id, name, place, share, price, hold, reason, detail, upstream_model: upstream } = channel
  const rates = price?.rates
  return (
    <tr className="align-top">
      <th scope="row" className="px-3 py-1.5 text-left font-normal">
        <span className="break-words">
          {place > 0 && `${place}. `}
          {name} <span className="text-muted">#{id}</span>
        </span>
        <span className="block text-muted">{t('virtual.try.upstream', { model: upstream })}</span>
        {reason !== null && (
          <span className="block text-warn">
            {t(`virtual.reason.${reason}`)}
            {detail !== '' && ` (${detail})`}
          </span>
        )}
      </th>
      <td className="num px-3 py-1.5 whitespace-nowrap">{place > 0 ? formatPercent(share / 100, 0) : '–'}</td>
      <td className="num px-3 py-1.5 whitespace-nowrap">
        {rates ? t('virtual.try.rates', { input: quota(rates.input, 4), output: quota(rates.output, 4) }) : '–'}
        {price && price.call > 0 && (
          <span className="block">{t('virtual.try.perRequest', { price: quota(price.call, 6) })}</span>
        )}
      </td>
      <td className="num px-3 py-1.5 whitespace-nowrap">{hold > 0 ? quota(hold, 6) : '–'}</td>
    </tr>
  )
}
