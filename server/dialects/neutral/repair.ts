import type { JsonObject } from '../../lib/json.ts'

/** Facts about the service that a request is passed on to. */
export interface RepairOptions {
  /** The name under which the service knows the model. */
  readonly model: string
  /** The service accepts thoughts back without a signature. */
  readonly takesUnsigned?: boolean
  /** The service has refused the thinking state in this request: none of it is sent. */
  readonly withoutThoughts?: boolean
}

/** Fields of a request to set, and what was dropped from it, by the caller's names. */
export interface Repair {
  readonly edits: JsonObject
  readonly dropped: readonly string[]
}
