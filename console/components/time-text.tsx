import { formatTime } from '../lib/format.ts'

/**
 * A time in a narrow column. It may take two lines, but breaks only between the date and the time of day. A browser would
 * also break after the hyphens of the date.
 */
export function TimeText({ seconds }: { seconds: number }) {
  const [date = '', time = ''] = formatTime(seconds).split(' ')
  return (
    <>
      <span className="whitespace-nowrap">{date}</span> <span className="whitespace-nowrap">{time}</span>
    </>
  )
}
