import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import type { DialectName } from '../../server/dialects/neutral/conversation.ts'
import type { JsonObject } from '../../server/lib/json.ts'

/** What a client received from a streamed response through an official SDK. */
export interface Learned {
  text: string
  thought: string
  calls: { id: string; name: string; input: unknown }[]
  stop: string
  usage: { prompt: number; completion: number; cached: number }
}

/** Reads one streamed response from a server through the SDK's own accumulator. Rejects if the SDK reports an error. */
export type SdkReader = (baseUrl: string, request: JsonObject) => Promise<Learned>

const options = { apiKey: 'sk-test', maxRetries: 0 } as const

const readChat: SdkReader = async (baseURL, request) => {
  const client = new OpenAI({ ...options, baseURL: `${baseURL}/v1` })
  const stream = client.chat.completions.stream(request as never)
  let thought = ''
  for await (const chunk of stream) {
    const delta = chunk.choices[0]?.delta as { reasoning_content?: string } | undefined
    thought += delta?.reasoning_content ?? ''
  }
  const answer = await stream.finalChatCompletion()
  const choice = answer.choices[0]
  const { message } = choice as NonNullable<typeof choice>
  return {
    text: (message.content ?? '') + (message.refusal ?? ''),
    thought,
    calls: (message.tool_calls ?? []).map((call) => ({
      id: call.id,
      name: call.type === 'function' ? call.function.name : '',
      input: call.type === 'function' ? JSON.parse(call.function.arguments) : undefined,
    })),
    stop: choice?.finish_reason ?? '',
    usage: {
      prompt: answer.usage?.prompt_tokens ?? 0,
      completion: answer.usage?.completion_tokens ?? 0,
      cached: answer.usage?.prompt_tokens_details?.cached_tokens ?? 0,
    },
  }
}

const readResponses: SdkReader = async (baseURL, request) => {
  const client = new OpenAI({ ...options, baseURL: `${baseURL}/v1` })
  const answer = await client.responses.stream(request as never).finalResponse()
  if (answer.status === 'failed') throw new Error(answer.error?.message)
  const items = answer.output
  const content = items.flatMap((item) => (item.type === 'message' ? item.content : []))
  return {
    text: content.map((part) => (part.type === 'output_text' ? part.text : part.refusal)).join(''),
    thought: items
      .flatMap((item) => (item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])] : []))
      .map(({ text }) => text)
      .join(''),
    calls: items.flatMap((item) =>
      item.type === 'function_call' ? [{ id: item.call_id, name: item.name, input: JSON.parse(item.arguments) }] : [],
    ),
    stop: answer.incomplete_details?.reason ?? answer.status ?? '',
    usage: {
      prompt: answer.usage?.input_tokens ?? 0,
      completion: answer.usage?.output_tokens ?? 0,
      cached: answer.usage?.input_tokens_details.cached_tokens ?? 0,
    },
  }
}

const readMessages: SdkReader = async (baseURL, request) => {
  const client = new Anthropic({ ...options, baseURL })
  const answer = await client.messages.stream(request as never).finalMessage()
  const { usage } = answer
  const cached = usage.cache_read_input_tokens ?? 0
  return {
    text: answer.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    thought: answer.content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    calls: answer.content.flatMap((block) =>
      block.type === 'tool_use' ? [{ id: block.id, name: block.name, input: block.input }] : [],
    ),
    stop: answer.stop_reason ?? '',
    usage: {
      prompt: usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0),
      completion: usage.output_tokens,
      cached,
    },
  }
}

const readGemini: SdkReader = async (baseUrl, request) => {
  const client = new GoogleGenAI({ apiKey: 'sk-test', httpOptions: { baseUrl } })
  const learned: Learned = {
    text: '',
    thought: '',
    calls: [],
    stop: '',
    usage: { prompt: 0, completion: 0, cached: 0 },
  }
  for await (const chunk of await client.models.generateContentStream(request as never)) {
    // If there are several candidates, the first one counts.
    const candidate = chunk.candidates?.find(({ index = 0 }) => index === 0)
    for (const { text = '', thought, functionCall } of candidate?.content?.parts ?? []) {
      if (thought) learned.thought += text
      else learned.text += text
      if (functionCall)
        learned.calls.push({ id: functionCall.id ?? '', name: functionCall.name ?? '', input: functionCall.args })
    }
    learned.stop = candidate?.finishReason ?? learned.stop
    const usage = chunk.usageMetadata
    if (usage) {
      learned.usage = {
        prompt: usage.promptTokenCount ?? 0,
        completion: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
        cached: usage.cachedContentTokenCount ?? 0,
      }
    }
  }
  // The SDK accepts a closed connection as the end of the stream. Only a finish reason marks a complete answer.
  if (learned.stop === '') throw new Error('the stream ended without a reason')
  return learned
}

/** The readers, by the dialect that their SDK uses. */
export const sdkReaders: Readonly<Record<DialectName, SdkReader>> = {
  'openai-chat': readChat,
  'openai-responses': readResponses,
  'anthropic-messages': readMessages,
  gemini: readGemini,
}
