import type { JsonObject } from '../../lib/json.ts'
import { leastBudget, type ModelTraits } from '../models/claude-model.ts'
import { budgetOf, budgetWithin, effortOf } from '../models/reasoning-effort.ts'
import type { Conversation, Effort, Message } from '../neutral/conversation.ts'
import type { DroppedFields } from '../wire/dropped-fields.ts'
import { mustCall } from '../wire/tool-choice.ts'

const dialect = 'anthropic-messages'
/**
 * The default limit for thinking and answer together. Every model that accepts a thinking budget can generate this many
 * tokens.
 */
export const usualRoom = 32_000

interface Thinking {
  thinking?: JsonObject
  budget?: number
  outputConfig: JsonObject
}

/**
 * The fields of a request that control thinking (Anthropic docs: "Extended thinking", "Adaptive thinking", "Effort").
 */
export function thinkingOf(conversation: Conversation, traits: ModelTraits, dropped: DroppedFields): Thinking {
  const { reasoning, from } = conversation
  if (!reasoning) return { outputConfig: {} }
  if (from === dialect) return asItWas(conversation, dropped)
  const effort = effortOf(reasoning)
  if (!traits.thinks) {
    dropped.lose('reasoning', effort === 'none' ? undefined : reasoning)
    return { outputConfig: {} }
  }
  if (effort === 'none') {
    // Several of the newest models do not allow thinking to be disabled.
    if (!traits.fixedSampling) return { thinking: { type: 'disabled' }, outputConfig: {} }
    dropped.lose('reasoning', reasoning)
    return { outputConfig: {} }
  }
  // A model that is forced to call a tool cannot think first.
  if (mustCall(conversation.toolChoice) && !traits.freeChoice) {
    dropped.lose('reasoning', reasoning)
    return { outputConfig: {} }
  }
  const display = traits.fixedSampling && reasoning.visible !== false ? { display: 'summarized' } : {}
  if (traits.adaptive) {
    return { thinking: { type: 'adaptive', ...display }, outputConfig: effort ? { effort: effortOut(effort) } : {} }
  }
  if (lacksThought(conversation)) {
    dropped.lose('reasoning', reasoning)
    return { outputConfig: {} }
  }
  return byBudget(conversation, Math.max(leastBudget, budgetOf(reasoning) ?? leastBudget), dropped)
}

/**
 * The budget counts toward max_tokens and must be below it. If there is no room for a budget, thinking is not
 * requested.
 */
function byBudget(
  { maxTokens, reasoning }: Conversation,
  wanted: number,
  dropped: DroppedFields,
  display = {},
): Thinking {
  const budget = budgetWithin(maxTokens ?? usualRoom, wanted, leastBudget)
  if (budget !== undefined) {
    return { thinking: { type: 'enabled', budget_tokens: budget, ...display }, budget, outputConfig: {} }
  }
  dropped.lose('reasoning', reasoning)
  return { outputConfig: {} }
}

function asItWas(conversation: Conversation, dropped: DroppedFields): Thinking {
  const { reasoning } = conversation
  const { effort, budgetTokens, adaptive, visible } = reasoning ?? {}
  const display = visible === undefined ? {} : { display: visible ? 'summarized' : 'omitted' }
  const outputConfig = effort && effort !== 'none' ? { effort } : {}
  if (effort === 'none') return { thinking: { type: 'disabled' }, outputConfig }
  if (budgetTokens !== undefined && lacksThought(conversation)) {
    dropped.lose('reasoning', reasoning)
    return { thinking: { type: 'disabled' }, outputConfig }
  }
  if (budgetTokens !== undefined) return { ...byBudget(conversation, budgetTokens, dropped, display), outputConfig }
  return { ...(adaptive && { thinking: { type: 'adaptive', ...display } }), outputConfig }
}

function effortOut(effort: Effort): string {
  return effort === 'minimal' ? 'low' : effort
}

/**
 * True if the conversation ends with tool results, and no turn of this tool-call loop has a reasoning part that
 * Anthropic signed. Thinking with a budget requires such reasoning.
 */
function lacksThought({ messages }: Conversation): boolean {
  const hasResult = (message: Message) => message.parts.some(({ type }) => type === 'tool-result')
  const last = messages.at(-1)
  if (!last || !hasResult(last)) return false
  const questionAt = messages.findLastIndex((message) => message.role === 'user' && !hasResult(message))
  return !messages
    .slice(questionAt + 1)
    .some(({ parts }) => parts.some((part) => part.type === 'reasoning' && part.seal?.from === dialect))
}
