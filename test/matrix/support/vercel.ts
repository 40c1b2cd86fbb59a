import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, jsonSchema, type LanguageModel, streamText, tool } from 'ai'
import type { CallerDialect } from '../../../contract/relay-paths.ts'
import type { End, Learned } from './learned.ts'

/** The AI SDK's models for each dialect, with a token for a server. */
export function vercelModels(
  url: string,
  apiKey: string,
  model: string,
): Readonly<Record<CallerDialect, LanguageModel>> {
  const openai = createOpenAI({ apiKey, baseURL: `${url}/v1` })
  return {
    'openai-chat': openai.chat(model),
    'openai-responses': openai.responses(model),
    'anthropic-messages': createAnthropic({ apiKey, baseURL: `${url}/v1` })(model),
    gemini: createGoogle({ apiKey, baseURL: `${url}/v1beta` })(model),
  }
}

const ends: Readonly<Record<string, End>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool-calls',
  'content-filter': 'content-filter',
}

/** Makes a call with the AI SDK and reads its result. Rejects if the SDK reports an error, also inside a stream. */
export async function askVercel(
  model: LanguageModel,
  { text, tools, stream }: { text: string; tools: readonly string[]; stream: boolean },
): Promise<Learned> {
  const anyInput = jsonSchema({ type: 'object', properties: {}, additionalProperties: true })
  const toolSet = Object.fromEntries(tools.map((name) => [name, tool({ inputSchema: anyInput })]))
  let failure: unknown
  const options = { model, prompt: text, tools: toolSet, maxRetries: 0, maxOutputTokens: 4000 }
  const result = stream
    ? streamText({
        ...options,
        onError({ error }) {
          failure ??= error
        },
      })
    : await generateText(options)
  if ('consumeStream' in result) await result.consumeStream()
  if (failure) throw failure
  const { text: said, reasoningText, toolCalls, finishReason, usage } = await result.finalStep
  return {
    text: said,
    thought: reasoningText ?? '',
    calls: toolCalls.map(({ toolCallId, toolName, input }) => ({ id: toolCallId, name: toolName, input })),
    end: ends[finishReason] ?? 'other',
    usage: {
      prompt: usage.inputTokens ?? 0,
      completion: usage.outputTokens ?? 0,
      cached: usage.inputTokenDetails.cacheReadTokens ?? 0,
      reasoning: 0,
    },
  }
}
