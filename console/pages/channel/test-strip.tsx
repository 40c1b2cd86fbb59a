import { useQuery } from '@tanstack/react-query'
import { Strip } from '../../components/chart/strip.tsx'
import { Skeleton } from '../../components/ui/states.tsx'
import { useSeen } from '../../components/ui/use-seen.ts'
import { formatTime } from '../../lib/format.ts'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { latencyColor, secondsOf } from './channel-parts.tsx'
import { testsQuery } from './queries.ts'

/** Response time in milliseconds that is drawn at full height. */
const fullMs = 8000

/** The last tests of a channel, oldest first. */
export function TestStrip({ id }: { id: number }) {
  const t = useText()
  const classic = useClassicServer()
  // Each strip needs its own call, so a strip loads only when it is scrolled into view.
  const [place, seen] = useSeen<HTMLSpanElement>()
  const { data, isPending, isError } = useQuery({ ...testsQuery(id), enabled: !classic && seen })
  if (classic) return null
  if (isPending) {
    return (
      <span ref={place}>
        <Skeleton className="h-5 w-28" />
      </span>
    )
  }
  if (isError) return <span className="text-sm text-muted">{t('channel.board.error')}</span>
  if (data.length === 0) return <span className="text-sm text-muted">{t('channel.board.none')}</span>
  const ok = data.filter((test) => test.ok).length
  const marks = [...data].reverse().map((test, index) => ({
    id: `${test.time} ${index}`,
    color: test.ok ? latencyColor(test.response_time) : ('red' as const),
    size: test.ok ? test.response_time / fullMs : 1,
    title: `${formatTime(test.time)} · ${test.model} · ${
      test.ok ? t('channel.seconds', { seconds: secondsOf(test.response_time) }) : test.message
    }`,
  }))
  return <Strip marks={marks} summary={t('channel.board.summary', { ok, count: data.length })} />
}
