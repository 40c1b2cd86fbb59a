import type { JsonObject } from '../lib/json.ts'
import { repairMessages } from './anthropic-messages/repair.ts'
import { repairContents } from './gemini/repair.ts'
import type { DialectName } from './neutral/conversation.ts'
import type { Repair, RepairOptions } from './neutral/repair.ts'
import { repairItems } from './openai-responses/repair.ts'

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
