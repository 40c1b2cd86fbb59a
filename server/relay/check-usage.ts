import type { Usage } from '../../contract/usage.ts'
import { maxOutputTokens } from '../billing/model-limits.ts'
import type { RelayCall } from './call.ts'
import { quickEstimate } from './count-tokens.ts'

/** An upstream's prompt count may differ from ours by this factor before it is taken for a mistake. */
const promptFactor = 10
const promptSlack = 2_000
/** Searches, files and tools add text to the prompt that the gateway never sees. */
const unseenPromptTokens = 300_000
/** Completion tokens believed when neither the request nor the model names a limit. */
const unknownCompletionLimit = 300_000
/** Reasoning comes on top of what some services call max_tokens. */
const completionFactor = 2

/** Says why a reported usage is not believed, or undefined when it is. */
export function usageFault(call: RelayCall, model: string, usage: Usage): string | undefined {
  const seen = quickEstimate(call.facts.prompt)
  const promptLimit = seen * promptFactor + (hasUnseenPrompt(call) ? unseenPromptTokens : promptSlack)
  if (usage.promptTokens > promptLimit) return `${usage.promptTokens} prompt tokens for about ${seen}`
  const perChoice = Math.max(call.facts.maxTokens ?? 0, maxOutputTokens(model) ?? unknownCompletionLimit)
  const completionLimit = perChoice * call.facts.choices * completionFactor
  if (usage.completionTokens > completionLimit)
    return `${usage.completionTokens} completion tokens of at most ${completionLimit}`
  return undefined
}

function hasUnseenPrompt(call: RelayCall): boolean {
  if (call.body.kind === 'form') return true
  const { json } = call.body
  return (
    call.facts.prompt.fixedTokens > 100 ||
    json['tools'] !== undefined ||
    json['web_search_options'] !== undefined ||
    json['plugins'] !== undefined ||
    json['search_parameters'] !== undefined ||
    /search|sonar|compound/.test(call.facts.model)
  )
}
