import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatCount } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import { type Attempt, attemptsOf } from './outcome.tsx'
import { channelNameQuery } from './queries.ts'

/** The channels that a call was sent to, in order, and the result of each attempt. */
export function Attempts({ text }: { text: string }) {
  const t = useText()
  const attempts = attemptsOf(text)
  return (
    <section aria-label={t('log.peek.attempts')} className="flex flex-col gap-2">
      <h3 className="text-sm text-muted">{t('log.peek.attempts')}</h3>
      {attempts ? (
        <ol className="flex flex-col gap-2">
          {attempts.map((attempt, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list of a row never changes
            <Step key={index} attempt={attempt} place={index + 1} />
          ))}
        </ol>
      ) : (
        <p className="text-sm break-words">{text}</p>
      )}
    </section>
  )
}

function Step({ attempt, place }: { attempt: Attempt; place: number }) {
  const t = useText()
  const { channelId, status, error, elapsedMs } = attempt
  const answer = status === 0 ? t('log.peek.noAnswer') : String(status)
  return (
    <li className="grid grid-cols-[1.5rem_1fr_auto] gap-x-2 rounded-md border border-line px-3 py-2 text-sm">
      <span className="num text-muted">{place}</span>
      <span className="min-w-0 break-words">
        <ChannelLink channel={channelId} />
      </span>
      <span className={`num whitespace-nowrap ${error === '' ? '' : 'text-bad'}`}>
        {answer} · {t('log.ms', { value: formatCount(elapsedMs) })}
      </span>
      {error !== '' && <span className="col-span-2 col-start-2 break-words text-muted">{error}</span>}
    </li>
  )
}

/** The channel's name as a link; only its number if the channel was deleted. */
export function ChannelLink({ channel }: { channel: number }) {
  const { data: name } = useQuery(channelNameQuery(channel))
  if (!name) return `#${channel}`
  return (
    <>
      <Link to="/channel/edit/$id" params={{ id: String(channel) }} className="text-link hover:underline">
        {name}
      </Link>{' '}
      <span className="text-muted">#{channel}</span>
    </>
  )
}
