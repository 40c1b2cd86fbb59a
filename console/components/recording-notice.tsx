import { queryOptions, useQuery } from '@tanstack/react-query'
import { captureApi, type OwnCapture } from '../../contract/api/capture.ts'
import { call } from '../lib/call.ts'
import { formatTime } from '../lib/format.ts'
import { useClassicServer } from '../lib/status.ts'
import { loadAreas, type Text, useText } from '../lib/text.ts'
import { Banner } from './ui/banner.tsx'

/** Whether the user's own requests are being recorded. If so, the texts of the notice are loaded, too. */
const ownRecordingQuery = queryOptions({
  queryKey: ['recording', 'own'],
  queryFn: async ({ signal }) => {
    const own = await call(captureApi.own, {}, { signal, quiet: true })
    if (endOf(own) > 0) await loadAreas(['recording'])
    return own
  },
  staleTime: 30_000,
})

/** The time at which the last recording ends; 0 = nothing is recorded. */
function endOf({ until, some_until, tokens }: OwnCapture): number {
  return Math.max(until, some_until, ...tokens.map((token) => token.until))
}

/** Tells users that their requests are being recorded. Renders nothing if they are not. */
export function RecordingNotice() {
  const t = useText()
  const classic = useClassicServer()
  const { data } = useQuery({ ...ownRecordingQuery, enabled: !classic })
  if (!data || endOf(data) <= Date.now() / 1000) return null
  return (
    <div className="mb-3">
      <Banner kind="warn" live title={sentenceOf(data, t)}>
        {t('recording.notice.who')}
      </Banner>
    </div>
  )
}

function sentenceOf({ until, some_until, tokens }: OwnCapture, t: Text): string {
  if (until > 0) return t('recording.notice.all', { time: formatTime(until) })
  if (tokens.length === 0) return t('recording.notice.some', { time: formatTime(some_until) })
  const last = Math.max(...tokens.map((token) => token.until))
  return t('recording.notice.tokens', { count: tokens.length, time: formatTime(last) })
}
