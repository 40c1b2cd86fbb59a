import { useQuery } from '@tanstack/react-query'
import { ChevronDown } from 'lucide-react'
import { useState } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import type { Channel } from '../../../contract/api/channel.ts'
import { ComboboxField } from '../../components/form/combobox-field.tsx'
import { Button } from '../../components/ui/button.tsx'
import { Menu } from '../../components/ui/menu.tsx'
import { groupsQuery } from '../../lib/groups.ts'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { FormSection } from './form-section.tsx'
import type { ChannelValues } from './form-values.ts'
import { modelsQuery, upstreamModels, useTypesModels } from './queries.ts'
import type { ProbeControl } from './use-probe.ts'

const isBasic = (model: string) => model.startsWith('gpt-3') || model.startsWith('text-')

interface ModelsSectionProps {
  form: UseFormReturn<ChannelValues>
  channel: Channel | undefined
  probe: ProbeControl
}

/** The models that the channel serves, quick ways to fill them in, and the groups that can use them. */
export function ModelsSection({ form, channel, probe }: ModelsSectionProps) {
  const t = useText()
  const known = useQuery(modelsQuery)
  const groups = useQuery(groupsQuery)
  const models = form.watch('models')
  const offered = typeof probe.state === 'object' ? probe.state.models : []
  const all = [...new Set([...offered, ...(known.data ?? []), ...models])]
  return (
    <FormSection title={t('channel.form.models')} step={3}>
      <ComboboxField
        control={form.control}
        name="models"
        label={t('channel.form.models')}
        hint={`${t('channel.form.count', { count: models.length })} · ${t('channel.form.models.hint')}`}
        options={all.map((name) => ({ value: name, label: name }))}
        creatable
      />
      <Fillers form={form} channel={channel} probe={probe} />
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

/** The buttons that fill in models. Recommended models come first; the other ways are in a menu. */
function Fillers({ form, channel, probe }: ModelsSectionProps) {
  const t = useText()
  const classic = useClassicServer()
  const known = useQuery(modelsQuery)
  const [type, models] = form.watch(['type', 'models'])
  const recommended = useTypesModels(type)
  const [asking, setAsking] = useState(false)
  const fill = (names: readonly string[]) =>
    form.setValue('models', [...new Set(names)], { shouldDirty: true, shouldValidate: form.formState.isSubmitted })
  const ask = async () => {
    setAsking(true)
    try {
      // For a stored channel, the server uses the stored key and address.
      const names = channel ? await upstreamModels(channel.id) : (await probe.run())?.models
      if (names) fill([...form.getValues('models'), ...names])
      if (names && channel) toast.info(t('channel.form.fillUpstream.done', { count: names.length }))
    } catch {
      // The call has already shown the error.
    }
    setAsking(false)
  }
  const basic = [...new Set([...(known.data ?? []), ...models])].filter(isBasic)
  const fetching = { id: 'upstream', label: t('channel.form.fillUpstream'), run: () => void ask() }
  return (
    <div className="-mt-2 flex flex-wrap gap-2">
      <div className="flex">
        <Button
          size="small"
          className="rounded-r-none"
          disabled={recommended.length === 0}
          onClick={() => fill([...models, ...recommended])}
        >
          {t('channel.form.fillType')}
        </Button>
        <Menu
          label={t('channel.form.fillMore')}
          align="start"
          trigger={
            <Button
              size="small"
              busy={asking}
              className="-ml-px rounded-l-none px-1.5!"
              aria-label={t('channel.form.fillMore')}
            >
              <ChevronDown className="size-4" aria-hidden="true" />
            </Button>
          }
          entries={[
            { id: 'basic', label: t('channel.form.fillBasic'), disabled: !known.data, run: () => fill(basic) },
            { id: 'all', label: t('channel.form.fillAll'), disabled: !known.data, run: () => fill(known.data ?? []) },
            ...(classic ? [] : [fetching]),
          ]}
        />
      </div>
      <Button size="small" disabled={models.length === 0} onClick={() => fill([])}>
        {t('channel.form.clear')}
      </Button>
    </div>
  )
}
