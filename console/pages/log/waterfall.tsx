import type { ReactNode } from 'react'
import type { Log } from '../../../contract/api/log.ts'
import { logType } from '../../../contract/log-types.ts'
import { type DotColor, dotMark } from '../../components/ui/badge.tsx'
import { Card } from '../../components/ui/page.tsx'
import { type Text, useText } from '../../lib/text.ts'
import { ChannelLink } from './attempts.tsx'
import { attemptsOf, durationText } from './outcome.tsx'

interface Step {
  id: string
  name: ReactNode
  /** Milliseconds from the start of the request. */
  from: number
  to: number
  color: DotColor
  note?: string
}

/** The attempts in the row, in order. Only rows that administrators see contain attempts. */
function attemptSteps(log: Log, t: Text): Step[] {
  let from = 0
  return (attemptsOf(log.attempts) ?? []).map(({ channelId, status, error, elapsedMs }, index) => {
    const step = {
      id: `attempt ${index}`,
      name: (
        <>
          <ChannelLink channel={channelId} />{' '}
          <span className="num">{status === 0 ? t('log.peek.noAnswer') : status}</span>
        </>
      ),
      from,
      to: from + elapsedMs,
      color: error === '' ? ('green' as const) : ('red' as const),
      note: error,
    }
    from += elapsedMs
    return step
  })
}

/** The time of the response itself: until its first byte, and from the first byte to the end. */
function responseSteps({ elapsed_time, first_byte_time, is_stream, type }: Log, t: Text): Step[] {
  if (type === logType.error && first_byte_time === 0)
    return [{ id: 'whole', name: t('log.inspect.whole'), from: 0, to: elapsed_time, color: 'grey' }]
  if (first_byte_time === 0)
    return [{ id: 'response', name: t('log.inspect.response'), from: 0, to: elapsed_time, color: 'accent' }]
  return [
    { id: 'first byte', name: t('log.inspect.firstByte'), from: 0, to: first_byte_time, color: 'grey' },
    {
      id: 'rest',
      name: t(is_stream ? 'log.inspect.stream' : 'log.inspect.body'),
      from: first_byte_time,
      to: elapsed_time,
      color: 'accent',
    },
  ]
}

/** When each part of a request took place. */
export function Waterfall({ log }: { log: Log }) {
  const t = useText()
  const steps = [...attemptSteps(log, t), ...responseSteps(log, t)]
  const end = Math.max(log.elapsed_time, ...steps.map(({ to }) => to), 1)
  return (
    <Card title={t('log.inspect.timeline')}>
      <ol className="flex flex-col gap-2.5 text-sm">
        {steps.map(({ id, name, from, to, color, note }) => (
          <li
            key={id}
            className="grid grid-cols-[minmax(6rem,10rem)_1fr_4.5rem] items-center gap-x-3 max-sm:grid-cols-[1fr_5rem]"
          >
            <span className="min-w-0 break-words">{name}</span>
            <span
              className="relative h-2 rounded-full bg-sunken max-sm:order-last max-sm:col-span-2 max-sm:mt-1"
              aria-hidden="true"
            >
              <span
                className={`absolute inset-y-0 min-w-0.5 rounded-full ${dotMark[color]}`}
                style={{ left: `${(from / end) * 100}%`, width: `${(Math.max(0, to - from) / end) * 100}%` }}
              />
            </span>
            <span className="num text-end">{durationText(Math.max(0, to - from), t)}</span>
            {note && <span className="col-span-full min-w-0 break-words text-muted">{note}</span>}
          </li>
        ))}
      </ol>
    </Card>
  )
}
