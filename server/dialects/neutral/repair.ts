import type { JsonObject } from '../../lib/json.ts'

/** Properties of the service that a request is passed on to. */
export interface RepairOptions {
  /** The service's name for the model. */
  readonly model: string
  /** True if the service accepts reasoning back without a signature. */
  readonly takesUnsigned?: boolean
  /** True if the service has refused the thinking state in this request, so that none of it may be sent. */
  readonly withoutThoughts?: boolean
}

/** The fields to set in a request, and the fields that were dropped from it. Both use the caller's field names. */
export interface Repair {
  readonly edits: JsonObject
  readonly dropped: readonly string[]
}
