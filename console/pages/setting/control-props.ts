import type { Option } from './drafts.ts'
import type { OptionForm } from './use-option-form.ts'

/** What the control of an option is given. */
export interface ControlProps {
  option: Option
  form: OptionForm
  id: string
  describedBy: string
  invalid: boolean
  disabled: boolean
}
