import type { Generated } from 'kysely'

/** Added by Tollgate: a model that consists of steps. Each step names a model that may answer. */
export interface VirtualModelsTable {
  id: Generated<number>
  name: string
  description: string
  /** JSON: a list of steps, in order. */
  steps: string
  /** The failures after which the next step is taken, separated by commas. */
  failures: string
  /** JSON: the model's own price in dollars; '' = the price of the step that answers. */
  price: string
  /** The groups that may use the model, separated by commas; '' = all. */
  groups: string
  enabled: boolean
  /** True if a stream that breaks is continued; null = the option StreamRescue decides. */
  stream_rescue: boolean | null
  created_time: number
  updated_time: number
}
