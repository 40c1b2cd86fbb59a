import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../components/ui/button.tsx'
import { PageHeading } from '../components/ui/page-heading.tsx'
import { importPart, isChunkFailure, isReachable } from '../lib/chunk.ts'
import { useText } from '../lib/text.ts'

/**
 * Shown instead of a page that could not be loaded or that threw an error. It says what happened and what to do next.
 */
export function PageError({ error, reset }: ErrorComponentProps) {
  const t = useText()
  const router = useRouter()
  const isChunk = isChunkFailure(error)
  const [busy, setBusy] = useState(false)
  const retry = async () => {
    if (isChunk) {
      // Reloading the page requests all chunks again. This is necessary because browsers may remember that a chunk
      // failed to load, and because a newer console has different chunks.
      setBusy(true)
      if (await isReachable()) return location.reload()
      setBusy(false)
    }
    reset()
    void router.invalidate()
  }
  const copy = async (details: string) => (await importPart(() => import('../lib/clipboard.ts'))).copyText(details)
  const details = `${String(error)}\n${location.href}\n${error instanceof Error ? (error.stack ?? '') : ''}`
  return (
    <div role="alert" className="flex flex-col items-center gap-1 px-4 py-24 text-center">
      <PageHeading title={t(isChunk ? 'error.chunk' : 'error.page')} />
      <p className="max-w-md text-sm text-muted">{t(isChunk ? 'error.chunk.hint' : 'error.page.hint')}</p>
      <div className="mt-4 flex flex-wrap justify-center gap-2">
        <Button look="primary" busy={busy} onClick={() => void retry()}>
          {t('do.retry')}
        </Button>
        <Button look="quiet" onClick={() => void copy(details)}>
          {t('error.copyDetails')}
        </Button>
      </div>
    </div>
  )
}
