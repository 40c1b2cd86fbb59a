import { useQuery } from '@tanstack/react-query'
import type { UseFormReturn } from 'react-hook-form'
import type { Channel } from '../../../contract/api/channel.ts'
import { SelectField, SwitchField } from '../../components/form/choice-fields.tsx'
import { PasswordField, TextAreaField, TextField } from '../../components/form/text-field.tsx'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { FormSection } from './form-section.tsx'
import { type ChannelValues, channelType, keyLines, otherDefault } from './form-values.ts'
import { ProbePart } from './probe-part.tsx'
import { typesQuery } from './queries.ts'
import type { ProbeControl } from './use-probe.ts'

/** Key, address and the other fields of the channel type. */
export function CredentialsSection(props: {
  form: UseFormReturn<ChannelValues>
  channel: Channel | undefined
  probe: ProbeControl
}) {
  const { form, channel, probe } = props
  const t = useText()
  const classic = useClassicServer()
  const { control } = form
  const type = Number(form.watch('type'))
  const types = useQuery(typesQuery)
  const entry = types.data?.find((each) => each.type === type)
  // Only some types use this field. If the channel already has a value, the field is shown for any type.
  const hasOther = isSpecified(type) || entry?.otherLabel !== undefined || Boolean(channel?.other)
  const uses = [
    { value: 'one', label: t('channel.form.batch.one') },
    ...(channel ? [] : [{ value: 'each', label: t('channel.form.batch.each') }]),
    ...(classic ? [] : [{ value: 'multi', label: t('channel.form.batch.multi') }]),
  ]
  return (
    <FormSection title={t('channel.form.credentials')} step={2}>
      <SelectField
        control={control}
        name="key_use"
        label={t('channel.form.batch')}
        options={uses}
        {...(form.watch('key_use') === 'multi' && { hint: t('channel.form.batch.multi.hint') })}
      />
      <KeyField form={form} stored={channel !== undefined} hint={types.isPending ? '\u00a0' : entry?.keyHint} />
      {channel && form.watch('key_use') === 'multi' && (
        <SwitchField control={control} name="key_append" label={t('channel.form.append')} />
      )}
      <TextField
        control={control}
        name="base_url"
        label={t(addressLabel(type))}
        placeholder={entry?.defaultBaseUrl ?? ''}
        optional={type !== channelType.azure && type !== channelType.custom}
        spellCheck={false}
        {...(addressLabel(type) === 'channel.form.proxy' && { hint: t('channel.form.proxy.hint') })}
      />
      {hasOther && (
        <TextField
          control={control}
          name="other"
          label={(isSpecified(type) ? undefined : entry?.otherLabel) ?? t(otherLabel(type))}
          placeholder={otherDefault(type) || (entry?.otherDefault ?? '')}
          optional
          spellCheck={false}
        />
      )}
      {!classic && <ProbePart form={form} channel={channel} probe={probe} />}
    </FormSection>
  )
}

function addressLabel(type: number) {
  if (type === channelType.azure) return 'channel.form.endpoint'
  return type === channelType.custom ? 'channel.form.baseUrl' : 'channel.form.proxy'
}

/** Whether the specification prescribes the label of `other` for this type. */
function isSpecified(type: number): boolean {
  return type === channelType.azure || type === channelType.spark
}

function otherLabel(type: number) {
  if (type === channelType.azure) return 'channel.form.other.azure'
  return type === channelType.spark ? 'channel.form.other.spark' : 'channel.form.other'
}

/** The key, on one line or several. The stored key is never shown, so leaving the field empty keeps it. */
function KeyField(props: { form: UseFormReturn<ChannelValues>; stored: boolean; hint: string | undefined }) {
  const { form, stored, hint } = props
  const t = useText()
  const [use, key] = form.watch(['key_use', 'key'])
  const format = hint?.trim() ? t('channel.form.key.format', { format: hint }) : hint
  const hints = [format, stored ? t('channel.form.key.keep') : undefined].filter((each) => each)
  if (use === 'one') {
    return (
      <PasswordField
        control={form.control}
        name="key"
        label={t('channel.form.key')}
        autoComplete="off"
        hint={hints.join(' · ') || undefined}
      />
    )
  }
  const { keys, skipped } = keyLines(key)
  const counts = [
    t('channel.form.key.lines', { count: keys.length }),
    skipped > 0 ? t('channel.form.key.skipped', { count: skipped }) : undefined,
    ...hints,
  ]
  return (
    <TextAreaField
      control={form.control}
      name="key"
      label={t('channel.form.key')}
      rows={6}
      mono
      hint={counts.filter((each) => each).join(' · ')}
    />
  )
}
