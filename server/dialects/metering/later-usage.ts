import type { Usage } from '../../../contract/usage.ts'
import type { JsonObject } from '../../lib/json.ts'

/**
 * The usage to use after a later report for the same answer. Counts only grow, so the last report is the valid one.
 * However, some services end with a report of zeros, so a zero after a real count is ignored.
 */
export function laterReport(before: Usage | undefined, later: Usage): Usage {
  if (!before) return later
  const { promptTokens, completionTokens } = later
  if (completionTokens === 0 && before.completionTokens > 0) return before
  if (promptTokens > 0 || before.promptTokens === 0) return later
  const {
    completionTokens: _,
    reasoningTokens: _r,
    audioCompletionTokens: _a,
    imageCompletionTokens: _i,
    ...prompt
  } = before
  return { ...prompt, ...later, promptTokens: before.promptTokens }
}

/** The same as `laterReport`, for OpenAI's raw `usage` objects. */
export function laterRawReport(before: JsonObject | undefined, later: JsonObject): JsonObject {
  if (!before) return later
  const isZero = (names: readonly string[]) => names.every((name) => !later[name])
  const had = (names: readonly string[]) => names.some((name) => Number(before[name]) > 0)
  if (isZero(completionNames) && had(completionNames)) return before
  if (!isZero(promptNames) || !had(promptNames)) return later
  const { total_tokens: _, ...rest } = later
  return { ...rest, ...Object.fromEntries(Object.entries(before).filter(([name]) => isOfPrompt(name))) }
}

const completionNames = ['completion_tokens', 'output_tokens']
const promptNames = ['prompt_tokens', 'input_tokens']

function isOfPrompt(name: string): boolean {
  return /^(?:prompt|input|cache)/.test(name)
}
