import { useText } from '../../lib/text.ts'
import { Segmented } from '../ui/segmented.tsx'

/** Whether rows with the chosen values are included or excluded. */
export type IsOrNotMode = 'is' | 'not'

/** The choice between "is" and "is not" in a filter. */
export function IsOrNot(props: { label: string; value: IsOrNotMode; onChange(mode: IsOrNotMode): void }) {
  const { label, value, onChange } = props
  const t = useText()
  return (
    <Segmented
      label={t('table.facet.mode', { label })}
      options={[
        { value: 'is', label: t('table.facet.mode.is') },
        { value: 'not', label: t('table.facet.mode.not') },
      ]}
      value={value}
      onChange={onChange}
    />
  )
}
