import type { UseFormReturn } from 'react-hook-form'
import { alertPlaceholders, alertText, statusWord } from '../../../contract/alert-text.ts'
import { SelectField } from '../../components/form/choice-fields.tsx'
import { TextAreaField, TextField } from '../../components/form/text-field.tsx'
import { formatTime } from '../../lib/format.ts'
import { useServerStatus } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import type { RuleValues } from './rule-values.ts'
import { valueText } from './words.ts'

const names = alertPlaceholders.map((name) => `{${name}}`).join(' ')

/** The templates of the message, and a preview. */
export function MessageFields({ form }: { form: UseFormReturn<RuleValues> }) {
  const t = useText()
  const { control } = form
  return (
    <fieldset className="flex min-w-0 flex-col gap-4 border-t border-line pt-4">
      <legend className="float-left w-full text-base font-medium">{t('alert.form.message')}</legend>
      <SelectField
        control={control}
        name="language"
        label={t('alert.form.language')}
        options={[
          { value: 'en', label: 'English' },
          { value: 'zh', label: '中文' },
          { value: 'ja', label: '日本語' },
        ]}
      />
      <TextField control={control} name="title" label={t('alert.form.titleField')} optional autoComplete="off" />
      <TextAreaField
        control={control}
        name="text"
        label={t('alert.form.text')}
        hint={t('alert.form.template.hint', { names })}
        rows={3}
        optional
      />
      <Preview form={form} />
    </fieldset>
  )
}

function Preview({ form }: { form: UseFormReturn<RuleValues> }) {
  const t = useText()
  const status = useServerStatus()
  const { kind, name, threshold = 0, language, title, text } = form.watch()
  const aboutToken = kind === 'own_token_quota' || kind === 'own_token_expiry'
  const isSystem = kind === 'error_rate' || kind === 'daily_spend' || kind === 'first_byte_p95'
  const system = status.system_name || 'Tollgate'
  const message = alertText(
    { title, text },
    { kind, event: 'firing', language },
    {
      name,
      status: statusWord('firing', language),
      target: isSystem ? system : t(aboutToken ? 'alert.sample.token' : 'alert.sample.target'),
      value: valueText(kind, threshold),
      limit: valueText(kind, threshold),
      time: formatTime(Date.now() / 1000).slice(0, 16),
      system,
      link: `${location.origin}/alert`,
    },
  )
  return (
    <section aria-label={t('alert.form.preview')} className="rounded-md border border-line bg-sunken px-3 py-2 text-sm">
      <p className="mb-1 text-muted">{t('alert.form.preview')}</p>
      <p className="font-medium break-words">{message.title}</p>
      <p className="break-words whitespace-pre-line">{message.text}</p>
    </section>
  )
}
