import type { JsonObject } from '../lib/json.ts'
import { repairMessages } from './anthropic-messages/repair.ts'
import { repairContents } from './gemini/repair.ts'
import type { DialectName } from './neutral/conversation.ts'
import type { Repair, RepairOptions } from './neutral/repair.ts'
import { repairItems } from './openai-responses/repair.ts'

type MakeRepair = (body: JsonObject, text: string, options: RepairOptions) => Repair

/**
 * For each dialect, the function that repairs a request that is passed through. If parts of the history came from other
 * channels, it removes thinking state of another service and corrects call ids and signatures that the service does not
 * accept. If there is nothing to repair, it only searches the text of the request.
 */
export const repairs: Readonly<Record<Exclude<DialectName, 'openai-chat'>, MakeRepair>> = {
  'anthropic-messages': repairMessages,
  'openai-responses': repairItems,
  gemini: repairContents,
}
