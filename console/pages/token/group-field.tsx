import { useQuery } from '@tanstack/react-query'
import { type Control, useWatch } from 'react-hook-form'
import { SelectField } from '../../components/form/choice-fields.tsx'
import { Banner } from '../../components/ui/banner.tsx'
import { selfQuery } from '../../lib/self.ts'
import { useText } from '../../lib/text.ts'
import type { TokenValues } from './form-values.ts'
import { groupsQuery } from './queries.ts'

/**
 * The group of the token, if there is a choice. The group determines the channels and the prices of the token's calls.
 */
export function GroupField({ control }: { control: Control<TokenValues> }) {
  const t = useText()
  const groups = useQuery(groupsQuery).data
  const own = useQuery(selfQuery).data?.group
  const chosen = useWatch({ control, name: 'group' })
  const others = Object.entries(groups ?? {}).filter(([name]) => name !== own)
  if (!groups || own === undefined || (others.length === 0 && chosen === '')) return null
  const isGone = chosen !== '' && groups[chosen] === undefined
  const ratio = (name: string) => t('token.form.group.ratio', { ratio: groups[name]?.ratio ?? 1 })
  return (
    <>
      <SelectField
        control={control}
        name="group"
        label={t('token.form.group')}
        hint={t('token.form.group.hint')}
        options={[
          { value: '', label: t('token.form.group.own', { name: own, ratio: ratio(own) }) },
          ...others.map(([name, { desc }]) => ({
            value: name,
            label: [name, desc, ratio(name)].filter((part) => part !== '').join(' · '),
          })),
          ...(isGone ? [{ value: chosen, label: chosen }] : []),
        ]}
      />
      {isGone && (
        <Banner kind="warn" live>
          {t('token.form.group.gone', { name: chosen })}
        </Banner>
      )}
    </>
  )
}
