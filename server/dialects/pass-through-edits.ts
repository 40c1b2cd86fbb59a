import { isObject, type JsonObject } from '../lib/json.ts'
import { spellingIn } from './gemini/protobuf-names.ts'
import { leastBudget } from './models/claude-model.ts'
import { budgetWithin } from './models/reasoning-effort.ts'
import type { DialectName } from './neutral/conversation.ts'

/** Changes to a request that is otherwise passed on unchanged. */
export interface WireEdits {
  model?: string
  /** The prompt that replaces the caller's instructions. */
  systemPrompt?: string
  /** The token limit of the answer. */
  maxTokens?: number
}

type Edit = (body: JsonObject, edits: WireEdits) => JsonObject

/**
 * For each dialect of a request, the function that returns the fields to set. OpenAI's chat is handled in
 * relay/upstream/prepare.ts.
 */
export const wireEdits: Readonly<Record<Exclude<DialectName, 'openai-chat'>, Edit>> = {
  'openai-responses': (_body, { model, systemPrompt, maxTokens }) => ({
    ...(model !== undefined && { model }),
    ...(systemPrompt !== undefined && { instructions: systemPrompt }),
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
  }),
  'anthropic-messages': (body, { model, systemPrompt, maxTokens }) => ({
    ...(model !== undefined && { model }),
    ...(systemPrompt !== undefined && { system: systemPrompt }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens, ...thinkingWithin(maxTokens, body['thinking']) }),
  }),
  // The model is in the URL. Google accepts two spellings of a field name, so the field is set under the spelling that
  // the caller used.
  gemini: (body, { systemPrompt, maxTokens }) => {
    const system = spellingIn(body, 'systemInstruction')
    const config = spellingIn(body, 'generationConfig')
    const settings = isObject(body[config]) ? body[config] : {}
    const limit = spellingIn(settings, 'maxOutputTokens')
    return {
      ...(systemPrompt !== undefined && { [system]: { parts: [{ text: systemPrompt }] } }),
      ...(maxTokens !== undefined && { [config]: { ...settings, [limit]: maxTokens } }),
    }
  },
}

/**
 * The thinking budget must be below max_tokens (Anthropic docs, "Extended thinking"). If no budget fits, thinking is
 * turned off.
 */
function thinkingWithin(maxTokens: number, thinking: unknown): JsonObject {
  if (!isObject(thinking) || typeof thinking['budget_tokens'] !== 'number') return {}
  const budget = budgetWithin(maxTokens, thinking['budget_tokens'], leastBudget)
  if (budget === thinking['budget_tokens']) return {}
  return { thinking: budget === undefined ? { type: 'disabled' } : { ...thinking, budget_tokens: budget } }
}
