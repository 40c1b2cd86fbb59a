import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type LogCopyView, logCopyApi } from '../../../contract/api/log-copy.ts'
import { Banner } from '../../components/ui/banner.tsx'
import { Button } from '../../components/ui/button.tsx'
import { Skeleton } from '../../components/ui/states.tsx'
import { CallError, call, translated } from '../../lib/call.ts'
import { formatCount, formatTime } from '../../lib/format.ts'
import { isRoot, useSessionUser } from '../../lib/session.ts'
import { loadAreas, useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import type { OptionForm } from './use-option-form.ts'

const refreshMs = 10_000

/** The progress of the copy of the log, its last error, and a button that tests the destination. */
export function LogCopyState({ form }: { form: OptionForm }) {
  const t = useText()
  const root = isRoot(useSessionUser())
  const { data, error, refetch } = useQuery({
    queryKey: ['log-copy', form.find('LogCopyPlace')?.value],
    queryFn: ({ signal }) => stateWithWords(signal),
    enabled: root,
    refetchInterval: refreshMs,
  })
  if (!root) return null
  if (error && !data) return <Banner kind="bad" title={t('setting.logCopy.load')} />
  if (!data) return <Skeleton className="my-4 h-16 w-full" />
  const unsaved = form.changed.some(({ section }) => section === 'log-copy' || section === 'storage')
  return (
    <div className="flex flex-col gap-2 py-4">
      {data.set_by_environment && <p className="text-sm text-muted">{t('setting.logCopy.environment')}</p>}
      {data.name === '' ? <p className="text-sm text-muted">{t('setting.logCopy.off')}</p> : <Figures state={data} />}
      <PlaceTest disabled={unsaved || data.name === ''} onTested={() => void refetch()} />
      {unsaved && <p className="text-sm text-muted">{t('setting.logCopy.unsaved')}</p>}
      <Faults state={data} />
    </div>
  )
}

/** Loads the state. It is returned only after the texts for its error have loaded. */
async function stateWithWords(signal: AbortSignal): Promise<LogCopyView> {
  const state = await call(logCopyApi.state, {}, { signal, quiet: true })
  if (state.error_code !== undefined) await loadAreas(['refusal']).catch(() => undefined)
  return state
}

function Figures({ state }: { state: LogCopyView }) {
  const t = useText()
  const rows = [
    [t('setting.logCopy.waiting'), formatCount(state.waiting_rows)],
    [t('setting.logCopy.sent'), formatCount(state.sent_rows)],
    [t('setting.logCopy.last'), state.sent_at > 0 ? formatTime(state.sent_at) : t('setting.logCopy.never')],
  ] as const
  return (
    <>
      <p className="break-words text-sm text-muted" data-verbatim>
        {t('setting.logCopy.place', { place: state.name })}
      </p>
      <dl className="flex flex-wrap gap-x-8 gap-y-2 text-sm">
        {rows.map(([label, value]) => (
          <div key={label}>
            <dt className="text-muted">{label}</dt>
            <dd className="font-medium tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

function PlaceTest({ disabled, onTested }: { disabled: boolean; onTested: () => void }) {
  const t = useText()
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()
  const test = async () => {
    setBusy(true)
    setFailure(undefined)
    try {
      await call(logCopyApi.test, {}, { quiet: true })
      toast.success(t('setting.logCopy.tested'))
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      setFailure(error.message)
    } finally {
      setBusy(false)
      onTested()
    }
  }
  return (
    <>
      <div>
        <Button busy={busy} disabled={disabled} onClick={() => void test()}>
          {t('setting.logCopy.test')}
        </Button>
      </div>
      {failure !== undefined && (
        <Banner kind="bad" live title={t('setting.logCopy.test.failed')}>
          <p className="break-words" data-verbatim>
            {failure}
          </p>
        </Banner>
      )}
    </>
  )
}

function Faults({ state }: { state: LogCopyView }) {
  const t = useText()
  const { error, error_code: code, error_values: values } = state
  return (
    <>
      {error !== '' && (
        <Banner kind="bad" title={t('setting.logCopy.failed')}>
          <p className="break-words" data-verbatim>
            {translated({ ...(code !== undefined && { code }), ...(values && { values }) }) ?? error}
          </p>
          <p>{t('setting.logCopy.failed.text')}</p>
        </Banner>
      )}
      {state.lost_rows > 0 && (
        <Banner kind="warn" title={t('setting.logCopy.gap')}>
          <p>{t('setting.logCopy.gap.text', { count: state.lost_rows, time: formatTime(state.lost_at) })}</p>
        </Banner>
      )}
    </>
  )
}
