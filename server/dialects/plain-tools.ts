import type { JsonObject } from '../lib/json.ts'
import type { Conversation, Tool } from './conversation.ts'
import type { Losses } from './losses.ts'
import { freeformDescription, freeformSchema } from './tool-input.ts'

/** Tools for services that know functions only. Where some may be called or one must, the others are not offered. */
export function plainTools({ tools, toolChoice }: Conversation, losses: Losses): JsonObject[] {
  const chosen =
    toolChoice?.mode === 'tool' ? [toolChoice.name] : toolChoice?.mode === 'allowed' ? toolChoice.names : undefined
  const names = chosen && new Set(chosen)
  const isOffered = (tool: Tool) => names === undefined || !('name' in tool) || names.has(tool.name)
  return tools.filter(isOffered).flatMap((tool): JsonObject[] => {
    switch (tool.type) {
      case 'function': {
        losses.lose('cacheMark', tool.cache)
        losses.native(tool.native, 'tool')
        const parameters = tool.schema ?? { type: 'object', properties: {} }
        return [functionOf(tool.name, tool.description, parameters)]
      }
      case 'freeform':
        losses.lose('toolFormat', tool.format)
        return [functionOf(tool.name, freeformDescription(tool.description, tool.format), freeformSchema)]
      case 'web-search':
        losses.lose('searchTool', tool)
        return []
      default:
        losses.foreign(tool.value, 'tool')
        return []
    }
  })
}

function functionOf(name: string, description: string | undefined, parameters: JsonObject): JsonObject {
  return { type: 'function', function: { name, ...(description && { description }), parameters } }
}
