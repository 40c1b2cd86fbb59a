import { useQuery } from '@tanstack/react-query'
import { type Control, useWatch } from 'react-hook-form'
import { ComboboxField } from '../../components/form/combobox-field.tsx'
import { Banner } from '../../components/ui/banner.tsx'
import { useText } from '../../lib/text.ts'
import type { TokenValues } from './form-values.ts'
import { availableModelsQuery } from './queries.ts'

/** The models that the token may call. They are chosen from the account's models or typed by name. */
export function ModelsField({ control }: { control: Control<TokenValues> }) {
  const t = useText()
  const group = useWatch({ control, name: 'group' })
  const available = useQuery(availableModelsQuery(group)).data
  const chosen = useWatch({ control, name: 'models' })
  const missing = available ? chosen.filter((name) => !available.includes(name)) : []
  return (
    <>
      <ComboboxField
        control={control}
        name="models"
        label={t('token.form.models')}
        hint={t('token.form.models.hint')}
        options={[...new Set([...(available ?? []), ...chosen])].map((name) => ({ value: name, label: name }))}
        creatable
        keepsTyped
        optional
      />
      {missing.length > 0 && (
        <Banner kind="warn" live>
          <p className="break-words">
            {t('token.form.models.missing', { count: missing.length, names: missing.join(', ') })}
          </p>
        </Banner>
      )}
    </>
  )
}
