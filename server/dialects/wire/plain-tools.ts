import type { JsonObject } from '../../lib/json.ts'
import type { Conversation, Tool } from '../neutral/conversation.ts'
import type { DroppedFields } from './dropped-fields.ts'
import { meantTools, type Offer, offerOf } from './tool-choice.ts'
import { freeformDescription, freeformSchema } from './tool-input.ts'

/**
 * Converts the tools for a service that supports only functions. If the tool choice allows only some tools or requires
 * a certain tool, the other tools are not offered.
 */
export function plainTools(conversation: Conversation, dropped: DroppedFields): Offer {
  const { toolChoice } = conversation
  const write = (tool: Tool) => plainTool(tool, dropped)
  const offer = offerOf(conversation, dropped, write)
  if (toolChoice?.mode !== 'tool' || offer.choice?.mode !== 'tool') return offer
  return { tools: meantTools(conversation).flatMap(write), choice: toolChoice }
}

function plainTool(tool: Tool, dropped: DroppedFields): JsonObject[] {
  switch (tool.type) {
    case 'function': {
      dropped.lose('cacheMark', tool.cache)
      dropped.lose('strictTool', tool.strict || undefined)
      const parameters = tool.schema ?? { type: 'object', properties: {} }
      return [functionOf(tool.name, tool.description, parameters)]
    }
    case 'freeform':
      dropped.lose('toolFormat', tool.format)
      return [functionOf(tool.name, freeformDescription(tool.description, tool.format), freeformSchema)]
    case 'web-search':
      dropped.lose('searchTool', tool)
      return []
    default:
      dropped.foreign(tool.value, 'tool')
      return []
  }
}

function functionOf(name: string, description: string | undefined, parameters: JsonObject): JsonObject {
  return { type: 'function', function: { name, ...(description && { description }), parameters } }
}
