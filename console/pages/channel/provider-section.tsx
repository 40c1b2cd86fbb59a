import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import { SearchSelectField } from '../../components/form/combobox-field.tsx'
import { TextField } from '../../components/form/text-field.tsx'
import { ProviderMark } from '../../components/provider-mark.tsx'
import { Banner } from '../../components/ui/banner.tsx'
import { useText } from '../../lib/text.ts'
import { FormSection } from './form-section.tsx'
import { type ChannelValues, channelType, modelsOfType } from './form-values.ts'
import { popularFirst } from './popular-types.ts'
import { typesQuery } from './queries.ts'

/**
 * The type and the name. Choosing a type fills in its models if none were chosen. For a new channel, it also fills in
 * the name unless the user has entered one.
 */
export function ProviderSection({ form, isNew }: { form: UseFormReturn<ChannelValues>; isNew: boolean }) {
  const t = useText()
  const types = useQuery(typesQuery)
  const type = form.watch('type')
  useTypeModels(form, type)
  useTypeName(form, type, isNew)
  const options = popularFirst(types.data ?? []).map((entry) => ({
    value: String(entry.type),
    label: entry.label,
    icon: <ProviderMark name={entry.label} className="me-2" />,
    words: `${entry.type} ${entry.name}`,
  }))
  return (
    <FormSection title={t('channel.form.provider')} step={1}>
      <SearchSelectField
        control={form.control}
        name="type"
        label={t('channel.form.type')}
        hint={t('channel.form.type.hint')}
        options={options}
      />
      {Number(type) === channelType.azure && <Banner kind="info">{t('channel.form.azure')}</Banner>}
      <TextField control={form.control} name="name" label={t('channel.form.name')} autoComplete="off" />
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

/**
 * Keeps the name of a new channel equal to the label of its type until the user enters another name. If the label loads
 * while the focus is in the empty box, the name is filled in when the focus leaves. Otherwise it would mix with what
 * the user types.
 */
function useTypeName(form: UseFormReturn<ChannelValues>, type: string, isNew: boolean): void {
  const { data } = useQuery(typesQuery)
  useEffect(() => {
    const label = isNew && data?.find((each) => String(each.type) === type)?.label
    if (!label) return
    const fill = () => {
      const name = form.getValues('name')
      const isUntouched = name === '' && !form.getFieldState('name').isDirty
      // The default changes together with the value, so that a name that nobody entered does not count as an unsaved
      // change.
      if (isUntouched || data.some((each) => each.label === name)) form.resetField('name', { defaultValue: label })
    }
    const box = document.activeElement
    if (!(box instanceof HTMLInputElement) || box.name !== 'name') {
      fill()
      return
    }
    box.addEventListener('blur', fill, { once: true })
    return () => box.removeEventListener('blur', fill)
  }, [form, type, isNew, data])
}
