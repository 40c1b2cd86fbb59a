import type { JsonObject } from '../../lib/json.ts'
import { leastBudget } from '../models/claude-model.ts'
import { budgetOf, budgetWithin, effortOf } from '../models/reasoning-effort.ts'
import type { Conversation } from '../neutral/conversation.ts'
import { mustCall } from '../wire/tool-choice.ts'
import type { BlockContext } from './parts-out.ts'

interface Thinking {
  readonly fields: JsonObject
  /** True if the request makes the model think. */
  readonly on: boolean
}

const off: Thinking = { fields: {}, on: false }

/**
 * The request fields that control thinking. Each model family has its own field for this (Bedrock user guide,
 * "Inference request parameters").
 */
export function thinkingOut(conversation: Conversation, { traits, dropped }: BlockContext): Thinking {
  const { reasoning } = conversation
  if (!reasoning) return off
  const effort = effortOf(reasoning)
  if (traits.isClaude) return claudeThinking(conversation, { traits, dropped })
  const level = effort === undefined || effort === 'none' ? undefined : levels[effort]
  if (traits.novaThinks) {
    const reasoningConfig = level
      ? { type: 'enabled', maxReasoningEffort: level }
      : { type: effort === 'none' ? 'disabled' : 'enabled' }
    return { fields: { reasoningConfig }, on: reasoningConfig.type === 'enabled' }
  }
  if (traits.isGptOss && level) return { fields: { reasoning_effort: level }, on: true }
  dropped.lose('reasoning', reasoning)
  return off
}

const levels = { minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'high', max: 'high' } as const

function claudeThinking(conversation: Conversation, { traits, dropped }: BlockContext): Thinking {
  const { reasoning, toolChoice, messages } = conversation
  if (!reasoning) return off
  const { claude } = traits
  const effort = effortOf(reasoning)
  if (!claude.thinks) {
    dropped.lose('reasoning', effort === 'none' ? undefined : reasoning)
    return off
  }
  if (effort === 'none') {
    if (claude.fixedSampling) dropped.lose('reasoning', reasoning)
    return claude.fixedSampling ? off : { fields: { thinking: { type: 'disabled' } }, on: false }
  }
  const turn = messages.findLast(({ role }) => role === 'assistant')
  const isInLoop = messages.at(-1)?.parts.some(({ type }) => type === 'tool-result') ?? false
  // With a thinking budget, the assistant turn before the tool results must contain reasoning signed by Anthropic.
  const isUnsigned =
    isInLoop && !turn?.parts.some((part) => part.type === 'reasoning' && part.seal?.from === 'anthropic-messages')
  if ((mustCall(toolChoice) && !claude.freeChoice) || (!claude.adaptive && isUnsigned)) {
    dropped.lose('reasoning', reasoning)
    return off
  }
  if (claude.adaptive) {
    const display = claude.fixedSampling && reasoning.visible !== false ? { display: 'summarized' } : {}
    const wish = effort === undefined ? {} : { output_config: { effort: effort === 'minimal' ? 'low' : effort } }
    return { fields: { thinking: { type: 'adaptive', ...display }, ...wish }, on: true }
  }
  // The budget counts toward the token limit and must be below it. If there is no room for a budget, thinking is not
  // requested.
  const wanted = Math.max(leastBudget, budgetOf(reasoning) ?? leastBudget)
  const budget = budgetWithin(conversation.maxTokens, wanted, leastBudget)
  if (budget !== undefined) return { fields: { thinking: { type: 'enabled', budget_tokens: budget } }, on: true }
  dropped.lose('reasoning', reasoning)
  return off
}
