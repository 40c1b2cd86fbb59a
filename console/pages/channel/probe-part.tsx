import { useEffect, useRef } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import type { Channel } from '../../../contract/api/channel.ts'
import type { ProbeReport } from '../../../contract/api/channel-probe.ts'
import { Banner } from '../../components/ui/banner.tsx'
import { Button } from '../../components/ui/button.tsx'
import { useText } from '../../lib/text.ts'
import type { ChannelValues } from './form-values.ts'
import { useTypesModels } from './queries.ts'
import type { ProbeControl } from './use-probe.ts'

interface ProbePartProps {
  form: UseFormReturn<ChannelValues>
  channel: Channel | undefined
  probe: ProbeControl
}

/** The button that tests the key before anything is saved, and the result of the test. */
export function ProbePart({ form, channel, probe }: ProbePartProps) {
  const t = useText()
  const { state } = probe
  const recommended = useTypesModels(form.watch('type'))
  const test = async () => {
    const report = await probe.run()
    const offered = new Set(report?.models)
    // A new channel without models gets the recommended models that the upstream offers.
    if (report?.ok && form.getValues('models').length === 0) {
      const models = recommended.filter((model) => offered.has(model))
      if (models.length > 0) form.setValue('models', models, { shouldDirty: true })
    }
  }
  return (
    <div className="flex flex-col items-start gap-2">
      <Button busy={state === 'running'} onClick={() => void test()}>
        {state === 'running' ? t('channel.form.testing') : t('channel.form.probe')}
      </Button>
      <p className="text-sm text-muted">{t(channel ? 'channel.form.probe.hintStored' : 'channel.form.probe.hint')}</p>
      {typeof state === 'object' && <Report form={form} report={state} />}
    </div>
  )
}

const mostNames = 3

function Report({ form, report }: { form: UseFormReturn<ChannelValues>; report: ProbeReport }) {
  const t = useText()
  const chosen = form.watch('models')
  const box = useRef<HTMLDivElement>(null)
  // Scrolls the report into view, because the footer of the form covers the bottom of the window.
  useEffect(() => {
    box.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  const { ok, time, model, message, models, models_message } = report
  const offered = new Set(models)
  const missing = models.length === 0 ? [] : chosen.filter((each) => !offered.has(each) && !isMapped(form, each))
  const set = (names: readonly string[]) => form.setValue('models', [...names], { shouldDirty: true })
  return (
    <div ref={box} className="flex w-full scroll-mb-24 flex-col gap-2">
      {ok ? (
        <Banner kind="good" live>
          {t('channel.form.probe.ok', { model, seconds: time.toFixed(2) })}
        </Banner>
      ) : (
        <Banner kind="bad" live title={t('channel.form.probe.failed', { model })}>
          <span className="break-words">{message}</span>
        </Banner>
      )}
      {models.length > 0 && (
        <Banner kind="info">
          <p>{t('channel.form.fillUpstream.done', { count: models.length })}</p>
          {models.some((each) => !chosen.includes(each)) && (
            <Button size="small" className="mt-2" onClick={() => set([...new Set([...chosen, ...models])])}>
              {t('channel.form.probe.addAll')}
            </Button>
          )}
        </Banner>
      )}
      {ok && models.length === 0 && models_message !== '' && (
        <p className="text-sm text-muted">{t('channel.form.probe.noList', { reason: models_message })}</p>
      )}
      {missing.length > 0 && (
        <Banner kind="warn">
          <p className="break-words">
            {t('channel.form.probe.missing', {
              names: missing.slice(0, mostNames).join(', '),
              more: Math.max(0, missing.length - mostNames),
            })}
          </p>
          <Button size="small" className="mt-2" onClick={() => set(chosen.filter((each) => !missing.includes(each)))}>
            {t('channel.form.probe.remove', { count: missing.length })}
          </Button>
        </Banner>
      )}
    </div>
  )
}

/** Whether the model mapping replaces the model's name before the request is sent upstream. */
function isMapped(form: UseFormReturn<ChannelValues>, model: string): boolean {
  return form.getValues('model_mapping').includes(JSON.stringify(model))
}
