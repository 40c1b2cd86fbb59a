import type { Usage } from '../../../contract/usage.ts'

/**
 * The state from which a call continues after its stream broke off. The usage of the earlier attempts is included in
 * the charge, in the log row and in the usage that the caller receives.
 */
export interface GoesOn {
  /** The part of the answer that the caller has received; '' = none, so the answer begins again. */
  readonly text: string
  /** The usage of the earlier attempts. */
  readonly usage: Usage
  /** The charge for the earlier attempts, in units. It is part of the hold. */
  readonly quota: number
  /** The operator's cost of the earlier attempts; absent = not known. */
  readonly cost?: number | undefined
  /** True if the gateway counted some of the usage itself. */
  readonly isEstimated: boolean
  /** A description of the tool calls that `quota` includes; absent = none. */
  readonly tools?: string | undefined
}
