import { useEffect, useRef } from 'react'
import { useWatch } from 'react-hook-form'
import { captureSizes } from '../../../contract/api/capture.ts'
import { captureTargets } from '../../../contract/capture-targets.ts'
import { SelectField, SwitchField } from '../../components/form/choice-fields.tsx'
import { Form } from '../../components/form/form.tsx'
import { TextAreaField } from '../../components/form/text-field.tsx'
import { useAppForm } from '../../components/form/use-app-form.ts'
import { Button } from '../../components/ui/button.tsx'
import { Card } from '../../components/ui/page.tsx'
import { type Text, useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { durations, kinds, type RecordingValues, recordingSchema, redactionsOf, sizes } from './form-values.ts'
import { startRecording } from './queries.ts'
import type { RecordingSearch } from './search.ts'
import { TargetField } from './target-field.tsx'

const none: RecordingValues = {
  target: 'user',
  target_id: '',
  minutes: '60',
  kib: String(captureSizes.default / 1024),
  email: false,
  card: false,
  phone: false,
  ip: false,
  words: '',
}

/** The form for a new recording. The link to the page may specify its target. */
export function RecordingForm({ search }: { search: RecordingSearch }) {
  const t = useText()
  const values = {
    ...none,
    target: search.target ?? none.target,
    target_id: search.id === undefined ? '' : String(search.id),
  }
  const form = useAppForm<RecordingValues>({ schema: recordingSchema, values })
  const target = useWatch({ control: form.control, name: 'target' })
  const chosenFor = useRef(target)
  useEffect(() => {
    if (chosenFor.current === target) return
    chosenFor.current = target
    form.setValue('target_id', '')
  }, [target, form])
  const start = async (given: RecordingValues) => {
    await startRecording({
      target: given.target,
      target_id: Number(given.target_id),
      // One second is subtracted because the server checks the maximum duration by its own clock, which may be slow.
      until: Math.floor(Date.now() / 1000) + Number(given.minutes) * 60 - 1,
      redactions: redactionsOf(given),
      size_limit: Number(given.kib) * 1024,
    })
    form.reset({ ...given, target_id: '' })
    toast.success(t('recording.started'))
  }
  return (
    <Card title={t('recording.new')}>
      <Form form={form} label={t('recording.new')} onSubmit={start} guard={false}>
        <div className="grid items-start gap-5 sm:grid-cols-2">
          <SelectField
            control={form.control}
            name="target"
            label={t('recording.target')}
            options={captureTargets.map((value) => ({ value, label: t(`recording.target.${value}`) }))}
          />
          <TargetField key={target} control={form.control} />
          <SelectField
            control={form.control}
            name="minutes"
            label={t('recording.duration')}
            options={durations.map((value) => ({ value: String(value), label: durationText(value, t) }))}
          />
          <SelectField
            control={form.control}
            name="kib"
            label={t('recording.size')}
            hint={t('recording.size.hint')}
            options={sizes.map((value) => ({ value: String(value), label: sizeText(value) }))}
          />
        </div>
        <fieldset>
          <legend className="mb-1 text-sm font-medium">{t('recording.kinds')}</legend>
          <div className="grid gap-x-5 gap-y-2.5 sm:grid-cols-2">
            {kinds.map((kind) => (
              <SwitchField key={kind} control={form.control} name={kind} label={t(`recording.kind.${kind}`)} />
            ))}
          </div>
        </fieldset>
        <TextAreaField
          control={form.control}
          name="words"
          label={t('recording.words')}
          hint={t('recording.words.hint')}
          optional
          rows={3}
        />
        <div className="flex flex-wrap items-center gap-3">
          <Button type="submit" look="primary" busy={form.formState.isSubmitting}>
            {t('recording.start')}
          </Button>
          <p className="text-sm text-muted">{t(target === 'channel' ? 'recording.told.channel' : 'recording.told')}</p>
        </div>
      </Form>
    </Card>
  )
}

function durationText(minutes: number, t: Text): string {
  if (minutes < 60) return t('recording.minutes', { count: minutes })
  return minutes < 1440 ? t('recording.hours', { count: minutes / 60 }) : t('recording.days', { count: minutes / 1440 })
}

function sizeText(kib: number): string {
  return kib < 1024 ? `${kib} KB` : `${kib / 1024} MB`
}
