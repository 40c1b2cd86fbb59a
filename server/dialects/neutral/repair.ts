import type { JsonObject } from '../../lib/json.ts'

/** Properties of the service that a request is passed on to. */
export interface RepairOptions {
  /** The service's name for the model. */
  readonly model: string
  /** The service accepts thoughts back without a signature. */
  readonly takesUnsigned?: boolean
  /** The service has refused the thinking state in this request, so none of it is sent. */
  readonly withoutThoughts?: boolean
}

/** The fields to set in a request, and the fields that were dropped from it, under the names that the caller used. */
export interface Repair {
  readonly edits: JsonObject
  readonly dropped: readonly string[]
}
