import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { oauthApi } from '../../../contract/api/oauth.ts'
import { Button, buttonClass } from '../../components/ui/button.tsx'
import { PageHeading } from '../../components/ui/page-heading.tsx'
import { Spinner } from '../../components/ui/spinner.tsx'
import { CallError, callFull } from '../../lib/call.ts'
import { queryClient } from '../../lib/query-client.ts'
import { setSessionUser } from '../../lib/session.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'

/** The wait before attempt n is n times this value. */
const waitMs = 2000
/** Maximum number of repeated attempts. If the network still does not respond, more attempts do not help. */
const mostTries = 4

/**
 * `/oauth/github`: the page to which GitHub redirects the browser. It logs the user in, or connects the GitHub account
 * if the user is already logged in.
 */
export function OAuthPage() {
  const t = useText()
  const { failure, tries, again } = useOAuthCallback()
  return (
    <div className="flex w-full max-w-[24rem] flex-col items-center gap-4 rounded-xl border border-line bg-surface p-8 text-center shadow-control">
      <PageHeading title={t('oauth.title')} />
      {failure === undefined ? (
        <p role="status" className="flex items-center gap-2 text-sm text-muted">
          <Spinner />
          {tries === 0 ? t('oauth.working') : t('oauth.retry', { count: tries })}
        </p>
      ) : (
        <>
          <div role="alert">
            <p className="font-medium">{t('oauth.failed')}</p>
            <p className="mt-1 text-sm break-words text-muted">{failure}</p>
            <p className="mt-1 text-sm text-muted">{t('oauth.failed.hint')}</p>
          </div>
          <div className="flex gap-2">
            <Button onClick={again}>{t('do.retry')}</Button>
            <Link to="/login" className={buttonClass({ look: 'primary' })}>
              {t('oauth.toLogin')}
            </Link>
          </div>
        </>
      )}
    </div>
  )
}

/**
 * Submits code and state. Only network failures are retried, with growing waits. An error from the server is final,
 * because a code works only once; the visitor is then sent to the settings.
 */
function useOAuthCallback() {
  const t = useText()
  const navigate = useNavigate()
  const [tries, setTries] = useState(0)
  const [failure, setFailure] = useState<string>()
  const [round, setRound] = useState(0)
  const handled = useRef(-1)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a code works only once, so only a new round reruns this
  useEffect(() => {
    if (handled.current === round) return
    handled.current = round
    const query = new URLSearchParams(location.search)
    const send = async (count: number): Promise<void> => {
      setTries(count)
      if (count > 0) await new Promise((resolve) => setTimeout(resolve, waitMs * count))
      try {
        const { data, message } = await callFull(
          oauthApi.github,
          { query: { code: query.get('code') ?? '', state: query.get('state') ?? '' } },
          { quiet: true },
        )
        if (message === 'bind') {
          await navigate({ to: '/setting', replace: true })
          toast.success(t('oauth.bound'))
          return
        }
        queryClient.clear()
        if (data) setSessionUser(data)
        await navigate({ to: '/', replace: true })
        toast.success(t('oauth.done'))
      } catch (error) {
        if (!(error instanceof CallError)) throw error
        if (error.kind === 'network' && count < mostTries) return send(count + 1)
        if (error.kind === 'network') return setFailure(error.message)
        // The settings page sends a visitor who is not logged in to the login page.
        await navigate({ to: '/setting', replace: true })
        toast.error(error.message)
      }
    }
    void send(0)
  }, [round])
  const again = () => {
    setFailure(undefined)
    setRound(round + 1)
  }
  return { tries, failure, again }
}
