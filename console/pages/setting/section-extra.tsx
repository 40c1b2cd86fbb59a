import { Link } from '@tanstack/react-router'
import { Suspense } from 'react'
import { buttonClass } from '../../components/ui/button.tsx'
import { CopyField } from '../../components/ui/copy-field.tsx'
import { RowsSkeleton } from '../../components/ui/states.tsx'
import { absoluteUrl } from '../../lib/base-path.ts'
import { lazy } from '../../lib/lazy.ts'
import { isRoot, useSessionUser } from '../../lib/session.ts'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import type { OptionForm } from './use-option-form.ts'

const RatioEditor = lazy(() => import('./ratio-editor.tsx').then((it) => ({ default: it.RatioEditor })))
const MailTest = lazy(() => import('./mail-test.tsx').then((it) => ({ default: it.MailTest })))
const BackupState = lazy(() => import('./backup-state.tsx').then((it) => ({ default: it.BackupState })))
const BrandPreview = lazy(() => import('./brand-preview.tsx').then((it) => ({ default: it.BrandPreview })))
const LogCopyState = lazy(() => import('./log-copy-state.tsx').then((it) => ({ default: it.LogCopyState })))
const UpdateCheck = lazy(() => import('./update-check.tsx').then((it) => ({ default: it.UpdateCheck })))

/** Additional content of a section besides its options. */
export function SectionExtra({ section, form }: { section: string; form: OptionForm }) {
  const classic = useClassicServer()
  if (section === 'code-hosting') return <OAuthHelp form={form} />
  if (section === 'ratios') {
    return (
      <Suspense fallback={<RowsSkeleton className="my-4 h-96" />}>
        <RatioEditor form={form} />
      </Suspense>
    )
  }
  if (section === 'mail' && !classic) {
    return (
      <Suspense fallback={<div className="h-21" />}>
        <MailTest form={form} />
      </Suspense>
    )
  }
  if (section === 'backup') {
    return (
      <Suspense fallback={<div className="h-16" />}>
        <BackupState form={form} />
        <ImportLink />
      </Suspense>
    )
  }
  if (section === 'log-copy') {
    return (
      <Suspense fallback={<div className="h-16" />}>
        <LogCopyState form={form} />
      </Suspense>
    )
  }
  if (section === 'recording') return <RecordingLink />
  if (section === 'pages') {
    return (
      <Suspense fallback={<div className="h-28 max-sm:h-40" />}>
        <BrandPreview form={form} />
      </Suspense>
    )
  }
  if (section === 'updates') {
    return (
      <Suspense fallback={<div className="h-16" />}>
        <UpdateCheck form={form} />
      </Suspense>
    )
  }
  return null
}

/** The values that must be registered with GitHub for this server. */
function OAuthHelp({ form }: { form: OptionForm }) {
  const t = useText()
  const home = form.find('ServerAddress')?.value || absoluteUrl('')
  const rows = [
    [t('setting.oauth.home'), home],
    [t('setting.oauth.callback'), `${home}/oauth/github`],
  ] as const
  return (
    <div className="flex flex-col gap-2 py-4">
      <p className="text-sm text-muted">{t('setting.oauth.help')}</p>
      {rows.map(([label, value]) => (
        <div
          key={label}
          className="grid grid-cols-[minmax(0,1fr)] items-center gap-x-4 gap-y-1 sm:grid-cols-[10rem_minmax(0,1fr)]"
        >
          <span className="text-sm font-medium">{label}</span>
          <CopyField label={label} value={value} />
        </div>
      ))}
    </div>
  )
}

/** A link to the page that imports the data of another gateway. */
function ImportLink() {
  const t = useText()
  const root = isRoot(useSessionUser())
  const classic = useClassicServer()
  if (!root || classic) return null
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 pb-4">
      <p className="min-w-0 flex-1 basis-64 text-sm text-muted">{t('setting.import.help')}</p>
      <Link to="/import" className={buttonClass()}>
        {t('setting.import.open')}
      </Link>
    </div>
  )
}

/** A link to the page where recordings are started. The options here only determine where recordings are stored. */
function RecordingLink() {
  const t = useText()
  const root = isRoot(useSessionUser())
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 py-4">
      <p className="min-w-0 flex-1 basis-64 text-sm text-muted">{t('setting.recording.help')}</p>
      {root && (
        <Link to="/recording" className={buttonClass()}>
          {t('setting.recording.open')}
        </Link>
      )}
    </div>
  )
}
