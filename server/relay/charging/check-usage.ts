import type { Usage } from '../../../contract/usage.ts'
import { maxOutputTokens } from '../../billing/model-limits.ts'
import { fieldsOf } from '../body/json-body.ts'
import type { AnyCall, CallBody, RelayCall } from '../call/call.ts'
import type { Channel } from '../routing/routing-table.ts'

/**
 * An upstream's prompt count is treated as a mistake only if it exceeds the gateway's estimate by more than this
 * factor.
 */
const promptFactor = 10
/** Services add their own instructions to the prompt. Some of these are several thousand tokens long. */
const promptSlack = 10_000
/**
 * Searches, files and tools add text to the prompt that the gateway never sees. At most, it fills the longest context
 * of any model.
 */
const unseenPromptTokens = 2_000_000
/** The limit on completion tokens that is assumed for a model whose own limit is not known. */
const unknownCompletionLimit = 300_000
/** Some services do not count reasoning towards max_tokens, so the output may exceed it by up to this factor. */
const completionFactor = 2
/**
 * The known limits of models go out of date, so a reported usage of up to this many completion tokens is accepted for
 * every model.
 */
const leastCompletionLimit = 65_536

/** A call, with the channel that answered it. */
interface Answered {
  readonly call: AnyCall
  readonly channel: Channel
  readonly upstreamModel: string
}

/** Returns why a reported usage is not believed, or undefined if it is. */
export function usageFault({ call, channel, upstreamModel: model }: Answered, usage: Usage): string | undefined {
  const estimate = call.state.promptGuess
  const beyond = usage.promptTokens - estimate * promptFactor
  const mayBeLong = () => channel.provider.addsToPrompt === true || hasUnseenPrompt(call)
  if (beyond > promptSlack && (beyond > unseenPromptTokens || !mayBeLong()))
    return `${usage.promptTokens} prompt tokens for about ${estimate}`
  const perChoice = Math.max(call.facts.maxTokens ?? 0, maxOutputTokens(model) ?? unknownCompletionLimit)
  const completionLimit = Math.max(perChoice * completionFactor, leastCompletionLimit) * call.facts.choices
  if (usage.completionTokens > completionLimit)
    return `${usage.completionTokens} completion tokens of at most ${completionLimit}`
  return undefined
}

/** Request fields that make an upstream read more than the request contains. */
const unseenFields = [
  'tools',
  'functions',
  'web_search_options',
  'search_parameters',
  'enable_search',
  'plugins',
  'cached_content',
  'cachedContent',
  'documents',
  'data_sources',
  'previous_response_id',
  'conversation',
  'prompt',
  'mcp_servers',
  'thread',
]

/**
 * Drops the body of a call once the request can no longer be sent again, because with thousands of open streams, the
 * bodies take most of the memory. The facts that the usage check needs about the body are kept.
 */
export function forgetBody(call: RelayCall): void {
  const { state } = call
  if (state.body.kind === 'form') return
  state.hasUnseenPrompt = hasUnseenPrompt(call)
  state.body = forgotten
  state.conversation = undefined
}

const forgotten: CallBody = { kind: 'json', text: '', json: {} }

function namesUnseen(field: string, value: unknown): boolean {
  // A `prompt` that is text is the prompt itself. Only in the Responses API does the field name a stored prompt.
  if (field === 'prompt' && (typeof value === 'string' || Array.isArray(value))) return false
  return value !== undefined && value !== null && value !== false
}

function hasUnseenPrompt(call: AnyCall): boolean {
  if (call.state.hasUnseenPrompt !== undefined) return call.state.hasUnseenPrompt
  if (call.state.body.kind === 'form' || call.mode === 'image-edits') return true
  const json = fieldsOf(call.state.body)
  return (
    call.facts.prompt.hasMedia === true ||
    call.facts.prompt.isOpenEnded === true ||
    unseenFields.some((field) => namesUnseen(field, json[field])) ||
    /search|sonar|compound|online|internet|research/.test(call.facts.model)
  )
}
