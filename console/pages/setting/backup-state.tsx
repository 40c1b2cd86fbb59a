import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type BackupEntry, backupApi } from '../../../contract/api/backup.ts'
import { Banner } from '../../components/ui/banner.tsx'
import { Button } from '../../components/ui/button.tsx'
import { Skeleton } from '../../components/ui/states.tsx'
import { call } from '../../lib/call.ts'
import { formatTime } from '../../lib/format.ts'
import { isRoot, useSessionUser } from '../../lib/session.ts'
import { languageTag, useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import type { OptionForm } from './use-option-form.ts'

const whileRunningMs = 1000

/** The last backup, the time of the next one, and a button that makes one now. */
export function BackupState({ form }: { form: OptionForm }) {
  const t = useText()
  const root = isRoot(useSessionUser())
  const [busy, setBusy] = useState(false)
  const { data, error, refetch } = useQuery({
    queryKey: ['backups'],
    queryFn: ({ signal }) => call(backupApi.list, {}, { signal, quiet: true }),
    enabled: root,
    refetchInterval: ({ state }) => (state.data?.backups[0]?.finished_at === 0 ? whileRunningMs : false),
  })
  if (!root) return null
  if (error && !data) return <Banner kind="bad" title={t('setting.backup.load')} />
  if (!data) return <Skeleton className="my-4 h-16 w-full" />
  const unsaved = form.changed.some(({ section }) => section === 'backup' || section === 'storage')
  const isOff = form.find('BackupStore')?.value === 'off'
  const start = async () => {
    setBusy(true)
    try {
      await call(backupApi.start, {})
      toast.success(t('setting.backup.started'))
      await refetch()
    } catch {
      // The call has already shown the error.
    }
    setBusy(false)
  }
  const [newest] = data.backups
  return (
    <div className="flex flex-col gap-2 py-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <div className="min-w-0 flex-1 basis-64 text-sm text-muted">
          <LastBackup backups={data.backups} />
          {data.next_at > 0 && newest?.finished_at !== 0 && (
            <p>{t('setting.backup.next', { time: formatTime(Math.max(data.next_at, Date.now() / 1000)) })}</p>
          )}
        </div>
        <Button busy={busy || newest?.finished_at === 0} disabled={unsaved || isOff} onClick={() => void start()}>
          {t('setting.backup.now')}
        </Button>
      </div>
      {unsaved && <p className="text-sm text-muted">{t('setting.backup.unsaved')}</p>}
      {newest && newest.error !== '' && (
        <Banner kind="bad" title={t('setting.backup.failed')}>
          <p className="break-words" data-verbatim>
            {newest.error}
          </p>
        </Banner>
      )}
    </div>
  )
}

function LastBackup({ backups }: { backups: readonly BackupEntry[] }) {
  const t = useText()
  const good = backups.find(({ finished_at, error }) => finished_at > 0 && error === '')
  return (
    <>
      {backups[0]?.finished_at === 0 && <p role="status">{t('setting.backup.running')}</p>}
      {good ? (
        <>
          <p>{t('setting.backup.last', { time: formatTime(good.finished_at), size: sizeOf(good.bytes) })}</p>
          <p className="break-words" data-verbatim>
            {good.host === '' ? good.path : t('setting.backup.place', { path: good.path, host: good.host })}
          </p>
        </>
      ) : (
        <p>{t('setting.backup.none')}</p>
      )}
    </>
  )
}

const steps = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

function sizeOf(bytes: number): string {
  const step = bytes < 1000 ? 0 : Math.min(steps.length - 1, Math.floor(Math.log10(bytes) / 3))
  const unit = steps[step] ?? 'byte'
  return new Intl.NumberFormat(languageTag(), { style: 'unit', unit, maximumFractionDigits: 1 }).format(
    bytes / 1000 ** step,
  )
}
