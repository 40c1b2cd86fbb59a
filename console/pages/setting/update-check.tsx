import { Suspense, useState } from 'react'
import { optionApi } from '../../../contract/api/option.ts'
import { Button } from '../../components/ui/button.tsx'
import { Dialog } from '../../components/ui/dialog.tsx'
import { Skeleton } from '../../components/ui/states.tsx'
import { call } from '../../lib/call.ts'
import { lazy } from '../../lib/lazy.ts'
import { useServerStatus } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import type { OptionForm } from './use-option-form.ts'

const SafeHtml = lazy(() => import('../../components/safe-html.tsx').then((it) => ({ default: it.SafeHtml })))

interface Release {
  tag_name: string
  body: string
}

const plainVersion = (version: string) => version.trim().replace(/^v/i, '')

/** Checks for a newer version, if a feed is configured; the release notes are shown in a dialog. */
export function UpdateCheck({ form }: { form: OptionForm }) {
  const t = useText()
  const { version = '' } = useServerStatus()
  const [busy, setBusy] = useState(false)
  const [release, setRelease] = useState<Release>()
  const feed = form.find('UpdateFeedURL')?.value ?? ''
  const check = async () => {
    setBusy(true)
    try {
      const latest = await call(optionApi.latestRelease, {})
      if (plainVersion(latest.tag_name) === plainVersion(latest.version))
        toast.success(t('setting.update.latest', { tag: latest.tag_name }))
      else setRelease(latest)
    } catch {
      // The call has already shown why it failed.
    }
    setBusy(false)
  }
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 py-4">
      <p className="text-sm text-muted">
        {t('setting.update.current', { version })} {feed === '' && t('setting.update.none')}
      </p>
      {feed !== '' && (
        <Button busy={busy} onClick={() => void check()}>
          {t('setting.update')}
        </Button>
      )}
      {release && (
        <Dialog
          open
          onClose={() => setRelease(undefined)}
          title={t('setting.update.title', { tag: release.tag_name })}
          width="large"
          footer={<Button onClick={() => setRelease(undefined)}>{t('do.close')}</Button>}
        >
          <div className="max-h-[60dvh] overflow-y-auto" data-verbatim>
            {release.body.trim() === '' ? (
              <p className="text-muted">{t('setting.update.noNotes')}</p>
            ) : (
              <Suspense fallback={<Skeleton className="h-24 w-full" />}>
                <SafeHtml source={release.body} />
              </Suspense>
            )}
          </div>
        </Dialog>
      )}
    </div>
  )
}
