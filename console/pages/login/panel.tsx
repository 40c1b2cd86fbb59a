import { CircleCheck } from 'lucide-react'
import { Suspense, useEffect, useState } from 'react'
import { statusApi } from '../../../contract/api/status.ts'
import { type StatusPage, statusPageApi } from '../../../contract/api/status-page.ts'
import { dotMark } from '../../components/ui/badge.tsx'
import { call } from '../../lib/call.ts'
import { lazy } from '../../lib/lazy.ts'
import { useServerStatus } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'

const SafeHtml = lazy(() => import('../../components/safe-html.tsx').then((it) => ({ default: it.SafeHtml })))

const colors = { up: 'green', degraded: 'orange', down: 'red', none: 'grey' } as const

/** Loads optional data. The result is undefined while it loads and after a failure. */
function useAnswer<T>(ask: (() => Promise<T>) | undefined): T | undefined {
  const [answer, setAnswer] = useState<T>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the only thing that can change is whether `ask` is set
  useEffect(() => {
    void ask?.().then(setAnswer, () => undefined)
  }, [ask === undefined])
  return answer
}

/**
 * Says what this service is and whether it works, and shows its notice. On wide screens, the panel is beside the form.
 * It is loaded after the form.
 */
export function LoginPanel() {
  const t = useText()
  const { system_name = 'Tollgate', status_page } = useServerStatus()
  const notice = useAnswer(() => call(statusApi.notice, {}, { quiet: true }))
  const service = useAnswer<StatusPage>(status_page ? () => call(statusPageApi.read, {}, { quiet: true }) : undefined)
  return (
    <div className="flex animate-[appear_150ms] flex-col gap-5">
      <p className="text-3xl font-semibold tracking-[-0.02em] break-words" data-verbatim>
        {system_name}
      </p>
      <p className="text-base text-muted">{t('home.text')}</p>
      <ul className="flex flex-col gap-2 text-sm">
        {(['keys', 'costs', 'failover'] as const).map((point) => (
          <li key={point} className="flex items-start gap-2">
            <CircleCheck className="mt-0.5 size-4 shrink-0 text-good" aria-hidden="true" />
            {t(`home.point.${point}`)}
          </li>
        ))}
      </ul>
      {service && (
        <p className="flex items-center gap-2 text-sm font-medium">
          <span className={`size-2 rounded-full ${dotMark[colors[service.state]]}`} aria-hidden="true" />
          {t(`status.page.all.${service.state}`)}
        </p>
      )}
      {notice && (
        <section aria-label={t('home.notice')} className="max-h-48 overflow-y-auto rounded-lg border border-line p-3">
          <Suspense fallback={null}>
            <SafeHtml source={notice} />
          </Suspense>
        </section>
      )}
    </div>
  )
}
