import { DirtyBar } from '../../components/ui/dirty-bar.tsx'
import { changeTexts } from './drafts.ts'
import { optionName } from './option-names.ts'
import type { OptionForm } from './use-option-form.ts'

/** The unsaved changes of all tabs, to review, discard or save. */
export function SaveBar({ form }: { form: OptionForm }) {
  return (
    <DirtyBar
      busy={form.busy}
      onDiscard={form.discard}
      onSave={() => void form.save()}
      changes={form.changed.map((option) => {
        const problem = form.problems[option.key]
        return {
          id: option.key,
          label: optionName(option),
          ...changeTexts(option, form.drafts[option.key] ?? ''),
          ...(form.done.includes(option.key) && { state: 'saved' as const }),
          ...(problem !== undefined && { state: 'failed' as const, problem }),
        }
      })}
    />
  )
}
