import type { JsonObject } from '../../lib/json.ts'
import type { Conversation, Tool, ToolChoice, ToolReference } from '../neutral/conversation.ts'
import type { DroppedFields } from './dropped-fields.ts'

/** The tools that an upstream is offered, and the choice among them. */
export interface Offer {
  readonly tools: JsonObject[]
  readonly choice: ToolChoice | undefined
}

/**
 * What is offered where a service has no list of allowed tools: those and no others. Where the service has none of the
 * tools that are allowed or demanded, the model may call none at all: it must not call one that was not meant.
 */
export function offerOf(conversation: Conversation, losses: DroppedFields, write: (tool: Tool) => JsonObject[]): Offer {
  const { tools, toolChoice: choice } = conversation
  if (choice?.mode !== 'allowed' && choice?.mode !== 'tool') return { tools: tools.flatMap(write), choice }
  const meant = meantTools(conversation)
  const written = meant.flatMap(write)
  if (written.length === 0 && (meant.length > 0 || choice.mode === 'allowed')) {
    losses.lose('toolChoice', choice)
    return { tools: tools.flatMap(write), choice: { mode: 'none' } }
  }
  // A tool that is demanded stands among all: the prompt stays the same, and with it what is cached of it.
  if (choice.mode === 'tool') return { tools: tools.flatMap(write), choice }
  return { tools: written, choice: { mode: choice.required ? 'required' : 'auto' } }
}

/** The tools that the choice allows or demands; all where it does neither. */
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

/** The name of a demanded function or free tool. */
export function demandedName(choice: ToolChoice | undefined): string | undefined {
  return choice?.mode === 'tool' && choice.tool.type === 'named' ? choice.tool.name : undefined
}

/** True when the model has no choice but to call a tool. */
export function mustCall(choice: ToolChoice | undefined): boolean {
  if (choice?.mode === 'allowed') return choice.required
  return choice?.mode === 'required' || choice?.mode === 'tool'
}

/** Hosted tools of one kind are told apart by the server they stand for. */
function kindOf({ type, server_label: label }: JsonObject): string {
  return `${String(type)} ${typeof label === 'string' ? label : ''}`
}

/** Functions and free tools among what is allowed, each once. */
export function namedReferences(references: readonly ToolReference[]): (ToolReference & { type: 'named' })[] {
  return references.filter((each) => each.type === 'named')
}
