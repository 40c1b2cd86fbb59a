import type { OpenAI } from 'openai'
import type { JsonObject } from '../../lib/json.ts'
import type { Always, Plain } from '../neutral/always.ts'

type Sdk = OpenAI.Responses.Response

/** Fields that are optional in OpenAI's SDK, but required by the service and its published schema. */
type AlwaysSent =
  | 'background'
  | 'completed_at'
  | 'max_output_tokens'
  | 'max_tool_calls'
  | 'previous_response_id'
  | 'prompt_cache_key'
  | 'prompt_cache_retention'
  | 'safety_identifier'
  | 'status'
  | 'top_logprobs'
  | 'truncation'

/** Fields that repeat the request. Their types are less strict here, because the request was already checked. */
type Repeated = 'instructions' | 'reasoning' | 'service_tier' | 'text' | 'tool_choice' | 'tools'

/**
 * A response as client programs of the Responses API read it. Its items are either built one by one or come from the
 * service.
 */
export type WireResponse = Always<
  Omit<Sdk, Repeated | 'error' | 'incomplete_details' | 'output' | 'output_text' | 'usage'>,
  AlwaysSent
> & {
  error: { code: string; message: string } | null
  frequency_penalty: number
  incomplete_details: { reason: string } | null
  instructions: unknown
  output: JsonObject[]
  presence_penalty: number
  reasoning: { effort: unknown; summary: unknown }
  service_tier: string
  store: boolean
  text: { format: unknown }
  tool_choice: unknown
  tools: JsonObject[]
  usage: WireUsage | null
}

export type WireUsage = OpenAI.Responses.ResponseUsage
export type WireMessage = Omit<OpenAI.Responses.ResponseOutputMessage, 'content'> & { content: WireContent[] }
export type WireText = Omit<Always<OpenAI.Responses.ResponseOutputText, 'logprobs'>, 'annotations'> & {
  annotations: JsonObject[]
}
export type WireRefusal = Plain<OpenAI.Responses.ResponseOutputRefusal>
export type WireContent = WireText | WireRefusal
export type WireReasoning = Plain<OpenAI.Responses.ResponseReasoningItem>
export type WireImage = Plain<OpenAI.Responses.ResponseOutputItem.ImageGenerationCall>
export type WireCall =
  | Always<OpenAI.Responses.ResponseFunctionToolCall, 'id' | 'status'>
  | (Always<OpenAI.Responses.ResponseCustomToolCall, 'id'> & { status: 'in_progress' | 'completed' })
export type WireCitation = Plain<OpenAI.Responses.ResponseOutputText.URLCitation>

type Event = OpenAI.Responses.ResponseStreamEvent

/** Fields of events that are built and checked separately. */
type Built = 'annotation' | 'item' | 'part' | 'response'

export type WireEventType = Event['type']

/**
 * The fields of an event other than its type and number. In the Open Responses specification, the error event contains
 * an error object.
 */
export type WireEvent<T extends WireEventType> = Omit<Extract<Event, { type: T }>, 'type' | 'sequence_number' | Built> &
  Pick<Parts, Built & keyof Extract<Event, { type: T }>> &
  (T extends 'error' ? { error: JsonObject } : unknown)

interface Parts {
  annotation: JsonObject
  item: JsonObject
  part: JsonObject
  response: WireResponse
}
