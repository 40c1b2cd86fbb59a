import type { Generated } from 'kysely'

/** Added by Tollgate: a virtual model, which consists of steps. Each step names a model to try. */
export interface VirtualModelsTable {
  id: Generated<number>
  name: string
  description: string
  /** JSON: a list of steps, in order. */
  steps: string
  /** The kinds of failures after which the next step is tried, separated by commas. */
  failures: string
  /** JSON: the price of the virtual model in dollars; '' = the price of the step that serves the call. */
  price: string
  /** The groups that may use the model, separated by commas; '' = all. */
  groups: string
  enabled: boolean
  /** True if a stream that breaks is continued by another attempt; null = as in the option StreamRescue. */
  stream_rescue: boolean | null
  created_time: number
  updated_time: number
}
