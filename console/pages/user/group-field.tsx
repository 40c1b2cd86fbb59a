import { useQuery } from '@tanstack/react-query'
import type { Control } from 'react-hook-form'
import { SearchSelectField } from '../../components/form/combobox-field.tsx'
import { groupsQuery } from '../../lib/groups.ts'
import { useText } from '../../lib/text.ts'
import type { UserValues } from './form-values.ts'

/** The field for the group: one of the known groups, or another name. */
export function GroupField({ control }: { control: Control<UserValues> }) {
  const t = useText()
  const groups = useQuery(groupsQuery)
  return (
    <SearchSelectField
      control={control}
      name="group"
      label={t('user.group')}
      hint={t('user.form.group.hint')}
      options={(groups.data ?? []).map((name) => ({ value: name, label: name }))}
      creatable
    />
  )
}
