import { isObject, type JsonObject } from '../lib/json.ts'
import type { DialectName } from './conversation.ts'

/** What changes in a request that is otherwise passed on as it came. */
export interface WireEdits {
  model?: string
  /** Takes the place of the caller's instructions. */
  systemPrompt?: string
  /** Most tokens of the answer. */
  maxTokens?: number
}

type Edit = (body: JsonObject, edits: WireEdits) => JsonObject

/** The members of a request that must be set for the edits, by the dialect it is written in; OpenAI's chat has its own way. */
export const wireEdits: Readonly<Record<Exclude<DialectName, 'openai-chat'>, Edit>> = {
  'openai-responses': (_body, { model, systemPrompt, maxTokens }) => ({
    ...(model !== undefined && { model }),
    ...(systemPrompt !== undefined && { instructions: systemPrompt }),
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
  }),
  'anthropic-messages': (_body, { model, systemPrompt, maxTokens }) => ({
    ...(model !== undefined && { model }),
    ...(systemPrompt !== undefined && { system: systemPrompt }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
  }),
  // The model stands in the address. Google takes both spellings of a name; the caller's own is the one that is set.
  gemini: (body, { systemPrompt, maxTokens }) => {
    const system = 'system_instruction' in body ? 'system_instruction' : 'systemInstruction'
    const config = 'generation_config' in body ? 'generation_config' : 'generationConfig'
    const settings = isObject(body[config]) ? body[config] : {}
    const limit = 'max_output_tokens' in settings ? 'max_output_tokens' : 'maxOutputTokens'
    return {
      ...(systemPrompt !== undefined && { [system]: { parts: [{ text: systemPrompt }] } }),
      ...(maxTokens !== undefined && { [config]: { ...settings, [limit]: maxTokens } }),
    }
  },
}
