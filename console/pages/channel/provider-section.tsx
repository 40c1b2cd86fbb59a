import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import { ComboboxField, SearchSelectField } from '../../components/form/combobox-field.tsx'
import { TextField } from '../../components/form/text-field.tsx'
import { ProviderMark } from '../../components/provider-mark.tsx'
import { Banner } from '../../components/ui/banner.tsx'
import { groupsQuery } from '../../lib/groups.ts'
import { useText } from '../../lib/text.ts'
import { FormSection } from './form-section.tsx'
import { type ChannelValues, channelType, modelsOfType } from './form-values.ts'
import { typesQuery } from './queries.ts'

/** Type, name and groups. Choosing a new type fills in its models if no models were chosen. */
export function ProviderSection({ form }: { form: UseFormReturn<ChannelValues> }) {
  const t = useText()
  const types = useQuery(typesQuery)
  const groups = useQuery(groupsQuery)
  const type = form.watch('type')
  useTypeModels(form, type)
  const options = (types.data ?? []).map((entry) => ({
    value: String(entry.type),
    label: entry.label,
    icon: <ProviderMark name={entry.label} className="me-2" />,
    words: `${entry.type} ${entry.name}`,
  }))
  return (
    <FormSection title={t('channel.form.provider')}>
      <SearchSelectField
        control={form.control}
        name="type"
        label={t('channel.form.type')}
        hint={t('channel.form.type.hint')}
        options={options}
      />
      {Number(type) === channelType.azure && <Banner kind="info">{t('channel.form.azure')}</Banner>}
      <TextField control={form.control} name="name" label={t('channel.form.name')} autoComplete="off" />
      <ComboboxField
        control={form.control}
        name="groups"
        label={t('channel.form.groups')}
        hint={t('channel.form.groups.hint')}
        options={(groups.data ?? []).map((name) => ({ value: name, label: name }))}
        creatable
      />
    </FormSection>
  )
}

/**
 * Choosing a new type removes the models that were prefilled for the previous type. It prefills the models of the new
 * type if none were chosen by hand. Models chosen by hand stay.
 */
function useTypeModels(form: UseFormReturn<ChannelValues>, type: string): void {
  const types = useQuery(typesQuery)
  const before = useRef(type)
  const filled = useRef<readonly string[]>([])
  useEffect(() => {
    if (before.current === type || !types.data) return
    before.current = type
    const ofType = types.data.find((each) => String(each.type) === type)?.models
    const next = modelsOfType(form.getValues('models'), filled.current, ofType)
    filled.current = next.filled
    form.setValue('models', [...next.models], { shouldDirty: true })
  }, [form, type, types.data])
}
