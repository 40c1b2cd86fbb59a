import type { Option } from './drafts.ts'
import type { OptionForm } from './use-option-form.ts'

/** Props of the control for an option. */
export interface ControlProps {
  option: Option
  form: OptionForm
  id: string
  describedBy: string
  invalid: boolean
  disabled: boolean
}
