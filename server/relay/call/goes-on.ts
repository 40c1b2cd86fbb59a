import type { Usage } from '../../../contract/usage.ts'

/**
 * The state from which a call continues after its stream broke off. The charge, the log row and the usage that the
 * caller is sent include what the earlier attempts used.
 */
export interface GoesOn {
  /** The text of the answer that the caller has been sent; '' = none, so the answer begins again. */
  readonly text: string
  /** What the attempts before have used. */
  readonly usage: Usage
  /** What they cost the caller, in units. It is part of the hold. */
  readonly quota: number
  /** What they cost the operator; absent = not known. */
  readonly cost?: number | undefined
  /** Some of the usage was counted here. */
  readonly isEstimated: boolean
  /** The tool calls that `quota` includes; absent = none. */
  readonly tools?: string | undefined
}
