import type { OpenAI } from 'openai'
import type { JsonObject } from '../../lib/json.ts'
import type { Always, Plain } from '../neutral/always.ts'

type Sdk = OpenAI.Chat.ChatCompletion
type SdkChunk = OpenAI.Chat.ChatCompletionChunk

/** A chat completion as client programs read it, with the additions of other services. */
export type WireCompletion = Omit<Sdk, 'choices' | 'service_tier' | 'usage'> & {
  choices: WireChoice[]
  usage?: WireUsage
  service_tier?: string
}

type WireChoice = Omit<Sdk['choices'][number], 'finish_reason' | 'logprobs' | 'message'> & {
  finish_reason: string
  logprobs: WireLogprobs | null
  message: WireMessage
}

export type WireMessage = Omit<OpenAI.Chat.ChatCompletionMessage, 'annotations' | 'tool_calls' | 'function_call'> & {
  annotations?: WireAnnotation[]
  images?: JsonObject[]
  reasoning_content?: string
  reasoning_details?: JsonObject[]
  function_call?: OpenAI.Chat.ChatCompletionMessage.FunctionCall
  tool_calls?: WireCall[]
}

export type WireFunctionCall = Plain<OpenAI.Chat.ChatCompletionMessageFunctionToolCall> & { extra_content?: JsonObject }
export type WireCustomCall = Plain<OpenAI.Chat.ChatCompletionMessageCustomToolCall>
export type WireCall = WireFunctionCall | WireCustomCall
export type WireAnnotation = Plain<OpenAI.Chat.ChatCompletionMessage.Annotation>
export type WireLogprobs = Plain<NonNullable<Sdk['choices'][number]['logprobs']>>
export type WireUsage = Always<OpenAI.CompletionUsage, 'completion_tokens_details' | 'prompt_tokens_details'>

/** A piece of a streamed completion. */
export type WireChunk = Omit<SdkChunk, 'choices' | 'service_tier' | 'usage'> & {
  choices: WireChunkChoice[]
  usage?: WireUsage | null
  service_tier?: string
}

type WireChunkChoice = Omit<SdkChunk['choices'][number], 'delta' | 'finish_reason' | 'logprobs'> & {
  delta: JsonObject
  finish_reason: string | null
  logprobs: WireLogprobs | null
}
