import type { JsonObject } from '../lib/json.ts'
import { repairMessages } from './anthropic-messages/repair.ts'
import { repairContents } from './gemini/repair.ts'
import type { DialectName } from './neutral/conversation.ts'
import type { Repair, RepairOptions } from './neutral/repair.ts'
import { repairItems } from './openai-responses/repair.ts'

type MakeRepair = (body: JsonObject, text: string, options: RepairOptions) => Repair

/**
 * For each dialect, the function that repairs a request that is passed through. It removes thinking state from another
 * service, and other leftovers of a history from other channels. If there are none, it costs one search of the text.
 */
export const repairs: Readonly<Record<Exclude<DialectName, 'openai-chat'>, MakeRepair>> = {
  'anthropic-messages': repairMessages,
  'openai-responses': repairItems,
  gemini: repairContents,
}
