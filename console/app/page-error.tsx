import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { Button } from '../components/ui/button.tsx'
import { PageHeading } from '../components/ui/page.tsx'
import { ChunkError, isOutdated } from '../lib/chunk.ts'
import { copyText } from '../lib/clipboard.ts'
import { serverStatus } from '../lib/status.ts'
import { useText } from '../lib/text.ts'
import { toast } from '../lib/toast.ts'

/** Stands in for a page that could not be loaded or ran into an error: what happened, and ways on. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const t = useText()
  const router = useRouter()
  const isChunk = error instanceof ChunkError
  const outdated = useOutdated(isChunk)
  const retry = () => {
    reset()
    void router.invalidate()
  }
  const details = `${String(error)}\n${location.href}\n${error instanceof Error ? (error.stack ?? '') : ''}`
  return (
    <div role="alert" className="flex flex-col items-center gap-1 px-4 py-24 text-center">
      <PageHeading title={t(isChunk ? 'error.chunk' : 'error.page')} />
      <p className="max-w-md text-sm text-muted">{t(isChunk ? 'error.chunk.hint' : 'error.page.hint')}</p>
      <div className="mt-4 flex flex-wrap justify-center gap-2">
        <Button look="primary" onClick={retry}>
          {t('do.retry')}
        </Button>
        {outdated && <Button onClick={() => location.reload()}>{t('app.reload')}</Button>}
        <Button look="quiet" onClick={() => void copyText(details)}>
          {t('error.copyDetails')}
        </Button>
      </div>
    </div>
  )
}

/** A chunk that is gone mostly means that the server has a newer console. */
function useOutdated(ask: boolean): boolean {
  const t = useText()
  const [outdated, setOutdated] = useState(false)
  useEffect(() => {
    if (!ask) return
    void isOutdated().then((is) => {
      setOutdated(is)
      if (is) {
        toast.notice(t('app.newVersion', { version: serverStatus().version ?? '' }), {
          id: 'new-version',
          action: { label: t('app.reload'), run: () => location.reload() },
        })
      }
    })
  }, [ask, t])
  return outdated
}
