import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import type { Control } from 'react-hook-form'
import { Field } from '../../components/form/field.tsx'
import { inputClass } from '../../components/ui/input.tsx'
import { useText } from '../../lib/text.ts'
import type { UserValues } from './form-values.ts'
import { groupsQuery } from './queries.ts'

/** The group: one of the known ones, or another by its name. */
export function GroupField({ control }: { control: Control<UserValues> }) {
  const t = useText()
  const listId = useId()
  const groups = useQuery(groupsQuery)
  return (
    <Field control={control} name="group" label={t('user.group')} hint={t('user.form.group.hint')}>
      {({ id, field, invalid, describedBy }) => (
        <>
          <input
            {...field}
            id={id}
            list={listId}
            value={String(field.value)}
            autoComplete="off"
            spellCheck={false}
            aria-invalid={invalid || undefined}
            aria-describedby={describedBy}
            className={inputClass}
          />
          <datalist id={listId}>
            {groups.data?.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}
