import type { JsonObject } from '../../lib/json.ts'
import type { Conversation, Tool, ToolChoice, ToolReference } from '../neutral/conversation.ts'
import type { DroppedFields } from './dropped-fields.ts'

/** The tools offered to an upstream, and the tool choice. */
export interface Offer {
  readonly tools: JsonObject[]
  readonly choice: ToolChoice | undefined
}

/**
 * Returns the tools to offer to a service whose API has no list of allowed tools. If the caller sends such a list, only
 * the tools in it are offered. If the service supports none of the allowed or required tools, the tool choice becomes
 * `none`, so that the model does not call tools that the caller excluded.
 */
export function offerOf(
  conversation: Conversation,
  dropped: DroppedFields,
  write: (tool: Tool) => JsonObject[],
): Offer {
  const { tools, toolChoice: choice } = conversation
  if (choice?.mode !== 'allowed' && choice?.mode !== 'tool') return { tools: tools.flatMap(write), choice }
  const meant = meantTools(conversation)
  const written = meant.flatMap(write)
  if (written.length === 0 && (meant.length > 0 || choice.mode === 'allowed')) {
    dropped.lose('toolChoice', choice)
    return { tools: tools.flatMap(write), choice: { mode: 'none' } }
  }
  // If a certain tool is required, all tools are offered anyway. The prompt then does not depend on the choice, so a
  // cached prompt can be reused.
  if (choice.mode === 'tool') return { tools: tools.flatMap(write), choice }
  return { tools: written, choice: { mode: choice.required ? 'required' : 'auto' } }
}

/** The tools to which the tool choice refers, or all tools if it refers to none. */
export function meantTools({ tools, toolChoice: choice }: Conversation): readonly Tool[] {
  if (choice?.mode !== 'allowed' && choice?.mode !== 'tool') return tools
  const references = choice.mode === 'tool' ? [choice.tool] : choice.tools
  const names = new Set(references.flatMap((each) => (each.type === 'named' ? [each.name] : [])))
  const kinds = new Set(references.flatMap((each) => (each.type === 'native' ? [kindOf(each.value)] : [])))
  const hasSearch = references.some(({ type }) => type === 'web-search')
  return tools.filter((tool) => {
    if (tool.type === 'web-search') return hasSearch
    if (tool.type !== 'native') return names.has(tool.name)
    return kinds.has(kindOf(tool.value)) || names.has(String(tool.value['name']))
  })
}

/** The name of the required function or freeform tool. */
export function demandedName(choice: ToolChoice | undefined): string | undefined {
  return choice?.mode === 'tool' && choice.tool.type === 'named' ? choice.tool.name : undefined
}

/** True if the model must call a tool. */
export function mustCall(choice: ToolChoice | undefined): boolean {
  if (choice?.mode === 'allowed') return choice.required
  return choice?.mode === 'required' || choice?.mode === 'tool'
}

/** The kind of a hosted tool. Several tools of one type differ in the label of their MCP server. */
function kindOf({ type, server_label: label }: JsonObject): string {
  return `${String(type)} ${typeof label === 'string' ? label : ''}`
}

/** The functions and freeform tools among the allowed tools. */
export function namedReferences(references: readonly ToolReference[]): (ToolReference & { type: 'named' })[] {
  return references.filter((each) => each.type === 'named')
}
