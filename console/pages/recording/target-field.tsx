import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Control, useWatch } from 'react-hook-form'
import type { CaptureChoice } from '../../../contract/api/capture.ts'
import { SearchSelectField } from '../../components/form/combobox-field.tsx'
import { useText } from '../../lib/text.ts'
import { useLater } from '../../lib/use-later.ts'
import type { RecordingValues } from './form-values.ts'
import { choicesQuery } from './queries.ts'

/** Chooses the user, token or channel by name or ID; the server finds them. */
export function TargetField({ control }: { control: Control<RecordingValues> }) {
  const t = useText()
  const [typed, setTyped] = useState('')
  const keyword = useLater(typed.trim())
  const target = useWatch({ control, name: 'target' })
  const id = Number(useWatch({ control, name: 'target_id' }))
  const { data: found = [] } = useQuery(choicesQuery(target, { keyword }))
  const isFound = found.some((each) => each.id === id)
  const chosen = useQuery({ ...choicesQuery(target, { id }), enabled: id > 0 && !isFound })
  const choices = isFound ? found : [...(id > 0 ? (chosen.data ?? []) : []), ...found]
  return (
    <SearchSelectField
      control={control}
      name="target_id"
      label={t(`recording.target.${target}`)}
      hint={t('recording.id.hint')}
      options={choices.map((each) => ({ value: String(each.id), label: labelOf(each) }))}
      onSearch={setTyped}
    />
  )
}

function labelOf({ id, name, detail }: CaptureChoice): string {
  return `${[name, detail === name ? '' : detail].filter((part) => part !== '').join(' · ')} (#${id})`
}
