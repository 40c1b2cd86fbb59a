import type { JsonObject } from '../lib/json.ts'
import { repairMessages } from './anthropic-messages/repair.ts'
import type { DialectName } from './conversation.ts'
import { repairContents } from './gemini/repair.ts'
import { repairItems } from './openai-responses/repair.ts'

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

type MakeRepair = (body: JsonObject, text: string, options: RepairOptions) => Repair

/**
 * What a request that is passed on in its own dialect must not hold: state of thought that another service made, and
 * what else a history brings along from other channels. Costs a search in the text where nothing of that is in it.
 */
export const repairs: Readonly<Record<Exclude<DialectName, 'openai-chat'>, MakeRepair>> = {
  'anthropic-messages': repairMessages,
  'openai-responses': repairItems,
  gemini: repairContents,
}
