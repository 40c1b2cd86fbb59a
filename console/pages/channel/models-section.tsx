import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import type { Channel } from '../../../contract/api/channel.ts'
import { ComboboxField } from '../../components/form/combobox-field.tsx'
import { Button } from '../../components/ui/button.tsx'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { FormSection } from './form-section.tsx'
import type { ChannelValues } from './form-values.ts'
import { modelsQuery, typesQuery, upstreamModels } from './queries.ts'

const isBasic = (model: string) => model.startsWith('gpt-3') || model.startsWith('text-')

/** The models that the channel serves, and quick ways to fill them in. */
export function ModelsSection(props: { form: UseFormReturn<ChannelValues>; channel: Channel | undefined }) {
  const { form, channel } = props
  const t = useText()
  const classic = useClassicServer()
  const known = useQuery(modelsQuery)
  const types = useQuery(typesQuery)
  const [type, models] = form.watch(['type', 'models'])
  const [asking, setAsking] = useState(false)
  const ofType = types.data?.find((entry) => String(entry.type) === type)?.models ?? []
  const all = [...new Set([...(known.data ?? []), ...models])]
  const fill = (names: readonly string[]) =>
    form.setValue('models', [...new Set(names)], { shouldDirty: true, shouldValidate: form.formState.isSubmitted })
  const ask = async (id: number) => {
    setAsking(true)
    try {
      const names = await upstreamModels(id)
      fill([...models, ...names])
      toast.info(t('channel.form.fillUpstream.done', { count: names.length }))
    } catch {
      // The call has already shown the error.
    }
    setAsking(false)
  }
  return (
    <FormSection title={t('channel.form.models')}>
      <ComboboxField
        control={form.control}
        name="models"
        label={t('channel.form.models')}
        hint={`${t('channel.form.count', { count: models.length })} · ${t('channel.form.models.hint')}`}
        options={all.map((name) => ({ value: name, label: name }))}
        creatable
      />
      <div className="-mt-2 flex flex-wrap gap-2">
        <Button size="small" disabled={!known.data} onClick={() => fill(all.filter(isBasic))}>
          {t('channel.form.fillBasic')}
        </Button>
        <Button size="small" disabled={!known.data} onClick={() => fill(known.data ?? [])}>
          {t('channel.form.fillAll')}
        </Button>
        <Button size="small" disabled={ofType.length === 0} onClick={() => fill([...models, ...ofType])}>
          {t('channel.form.fillType')}
        </Button>
        {channel && !classic && (
          <Button size="small" busy={asking} onClick={() => void ask(channel.id)}>
            {t('channel.form.fillUpstream')}
          </Button>
        )}
        <Button size="small" disabled={models.length === 0} onClick={() => fill([])}>
          {t('channel.form.clear')}
        </Button>
      </div>
    </FormSection>
  )
}
