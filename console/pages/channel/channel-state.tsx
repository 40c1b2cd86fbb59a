import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Channel } from '../../../contract/api/channel.ts'
import { formatRelative, formatTime } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import { ChannelStatus, ResponseTime } from './channel-parts.tsx'

const linkClass = 'text-link hover:underline'

/** The state of the edited channel: its status and the reason, its last test, and links to more. */
export function ChannelState({ channel }: { channel: Channel }) {
  const t = useText()
  const { status_reason, status_time, test_time, test_error, status } = channel
  const reason = status === 3 ? status_reason : ''
  return (
    <section
      aria-label={t('channel.form.state')}
      className="mb-4 rounded-lg border border-line bg-surface px-4 py-3 text-sm"
    >
      <div className="flex flex-wrap items-center gap-x-6 gap-y-2">
        <Fact name={t('channel.status')}>
          <ChannelStatus channel={channel} />
        </Fact>
        <Fact name={t('channel.testTime')}>
          <ResponseTime channel={channel} />
          {test_time > 0 && (
            <span className="text-muted" title={formatTime(test_time)}>
              {formatRelative(test_time)}
            </span>
          )}
        </Fact>
        <span className="flex gap-4 sm:ml-auto">
          <Link to="/log" search={{ channel: String(channel.id) }} className={linkClass}>
            {t('channel.peek.logs')}
          </Link>
          <Link to="/channel" search={{ peek: String(channel.id) }} className={linkClass}>
            {t('channel.timeline')}
          </Link>
        </span>
      </div>
      {reason && (
        <p className="mt-2 break-words text-muted">
          {formatRelative(status_time)}: {reason}
        </p>
      )}
      {test_error && <p className="mt-2 break-words text-bad">{test_error}</p>}
    </section>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <span className="flex items-center gap-2">
      <span className="text-muted">{name}</span>
      {children}
    </span>
  )
}
