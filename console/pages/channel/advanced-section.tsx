import type { UseFormReturn } from 'react-hook-form'
import { SelectField, SwitchField } from '../../components/form/choice-fields.tsx'
import { NumberField } from '../../components/form/number-field.tsx'
import { TextAreaField } from '../../components/form/text-field.tsx'
import { useText } from '../../lib/text.ts'
import { FormSection } from './form-section.tsx'
import { type ChannelValues, channelType } from './form-values.ts'

/** Priority, weight, time limits and the less common settings. */
export function AdvancedSection({ form }: { form: UseFormReturn<ChannelValues> }) {
  const t = useText()
  const { control } = form
  const limits = [
    ['connect_timeout', t('channel.form.connect')],
    ['first_byte_timeout', t('channel.form.firstByte')],
    ['first_token_timeout', t('channel.form.firstToken')],
    ['stream_idle_timeout', t('channel.form.idle')],
    ['relay_timeout', t('channel.form.relay')],
  ] as const
  return (
    <>
      <FormSection title={t('channel.form.routing')}>
        <div className="grid gap-5 sm:grid-cols-2">
          <NumberField
            control={control}
            name="priority"
            label={t('channel.priority')}
            hint={t('channel.form.priority.hint')}
            step={1}
          />
          <NumberField
            control={control}
            name="weight"
            label={t('channel.weight')}
            hint={t('channel.form.weight.hint')}
            min={0}
            step={1}
          />
        </div>
      </FormSection>
      <FormSection title={t('channel.form.advanced')} hint={t('channel.form.seconds.hint')}>
        <div className="grid gap-5 sm:grid-cols-2">
          {limits.map(([name, label]) => (
            <NumberField
              key={name}
              control={control}
              name={name}
              label={label}
              min={0}
              step="any"
              unit={t('channel.form.secondsUnit')}
            />
          ))}
        </div>
        <SelectField
          control={control}
          name="http_version"
          label={t('channel.form.http')}
          options={[
            { value: 'auto', label: t('channel.form.http.auto') },
            { value: '1.1', label: 'HTTP/1.1' },
            { value: '2', label: 'HTTP/2' },
          ]}
        />
        <SelectField
          control={control}
          name="system_turns"
          label={t('channel.form.systemTurns')}
          hint={t('channel.form.systemTurns.hint')}
          options={[
            { value: 'auto', label: t('channel.form.systemTurns.auto') },
            { value: 'keep', label: t('channel.form.systemTurns.keep') },
            { value: 'first', label: t('channel.form.systemTurns.first') },
            { value: 'user', label: t('channel.form.systemTurns.user') },
          ]}
        />
        {Number(form.watch('type')) === channelType.azure && (
          <SwitchField control={control} name="strip_deployment_dots" label={t('channel.form.stripDots')} />
        )}
        <TextAreaField
          control={control}
          name="system_prompt"
          label={t('channel.form.systemPrompt')}
          hint={t('channel.form.systemPrompt.hint')}
          rows={3}
          optional
        />
      </FormSection>
    </>
  )
}
