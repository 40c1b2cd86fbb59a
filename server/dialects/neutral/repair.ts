import type { JsonObject } from '../../lib/json.ts'

/** What is known of the service that a request is passed on to. */
export interface RepairOptions {
  /** The model as the service is asked for it. */
  readonly model: string
  /** The service takes back thoughts without a signature. */
  readonly takesUnsigned?: boolean
  /** The service has refused the state of thought in this request: none of it goes. */
  readonly withoutThoughts?: boolean
}

/** Members of a request to set, and what was left out of it, by the caller's names. */
export interface Repair {
  readonly edits: JsonObject
  readonly dropped: readonly string[]
}
