import Anthropic from '@anthropic-ai/sdk'
import { type GenerateContentResponse, GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import type { CallerDialect } from '../../../contract/relay-paths.ts'
import type { JsonObject } from '../../../server/lib/json.ts'
import { type End, type Learned, type LearnedCall, parsedInput } from './learned.ts'

/** Clients of the official SDKs, for one server and one token. */
export interface Clients {
  openai: OpenAI
  anthropic: Anthropic
  google: GoogleGenAI
}

/** Creates the clients. `url` is given without a path. */
export function clientsOf(url: string, apiKey: string): Clients {
  return {
    openai: new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 }),
    // Without a time limit the SDK refuses long answers that are not streamed.
    anthropic: new Anthropic({ apiKey, baseURL: url, maxRetries: 0, timeout: 60_000 }),
    google: new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } }),
  }
}

/** A caller's request, independent of any dialect. */
export interface Asked {
  model: string
  text: string
  /** Functions that accept any object as input. */
  tools?: readonly string[]
  stream: boolean
  /** A PNG in Base64. */
  image?: string
  /** The JSON Schema of the answer. */
  schema?: JsonObject
  /** True if the model should think and show its reasoning. */
  thinks?: boolean
}

/**
 * Makes a call with an official SDK and reads the answer through the SDK's own helpers. Rejects if the SDK reports an
 * error.
 */
export type Caller = (clients: Clients, asked: Asked) => Promise<Learned>

/** The callers by the dialect of their SDK. */
export const callers: Readonly<Record<CallerDialect, Caller>> = {
  'openai-chat': askChat,
  'openai-responses': askResponses,
  'anthropic-messages': askMessages,
  gemini: askGemini,
}

/** The dialects of callers. */
export const callerNames = Object.keys(callers) as CallerDialect[]

const anyObject = { type: 'object', properties: {}, additionalProperties: true }

async function askChat({ openai }: Clients, { model, text, tools, stream, image, schema, thinks }: Asked) {
  const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } }
  const body = {
    model,
    messages: [{ role: 'user', content: image === undefined ? text : [{ type: 'text', text }, picture] }],
    ...(tools && {
      tools: tools.map((name) => ({ type: 'function', function: { name, parameters: anyObject } })),
    }),
    ...(schema && { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } } }),
    ...(thinks && { reasoning_effort: 'low' }),
  }
  let thought = ''
  let answer: OpenAI.ChatCompletion
  if (stream) {
    const events = openai.chat.completions.stream({ ...body, stream_options: { include_usage: true } } as never)
    for await (const chunk of events)
      thought += (chunk.choices[0]?.delta as { reasoning_content?: string } | undefined)?.reasoning_content ?? ''
    answer = await events.finalChatCompletion()
  } else {
    answer = await openai.chat.completions.create(body as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming)
    thought = (answer.choices[0]?.message as { reasoning_content?: string } | undefined)?.reasoning_content ?? ''
  }
  return learnedFromChat(answer, thought)
}

function learnedFromChat({ choices, usage }: OpenAI.ChatCompletion, thought: string): Learned {
  const [choice] = choices
  const { content, refusal, tool_calls = [], audio } = choice?.message ?? {}
  const ends: Readonly<Record<string, End>> = {
    stop: 'stop',
    length: 'length',
    tool_calls: 'tool-calls',
    content_filter: 'content-filter',
  }
  return {
    text: (content ?? '') + (refusal ?? '') + (audio?.transcript ?? ''),
    thought,
    calls: tool_calls.map(
      (call): LearnedCall =>
        call.type === 'function'
          ? { id: call.id, name: call.function.name, input: parsedInput(call.function.arguments) }
          : { id: call.id, name: call.custom.name, input: call.custom.input },
    ),
    end: ends[choice?.finish_reason ?? ''] ?? 'other',
    usage: usage && {
      prompt: usage.prompt_tokens,
      completion: usage.completion_tokens,
      cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
      reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
    },
  }
}

async function askResponses({ openai }: Clients, { model, text, tools, stream, image, schema, thinks }: Asked) {
  const picture = { type: 'input_image', image_url: `data:image/png;base64,${image}` }
  const content = [{ type: 'input_text', text }, ...(image === undefined ? [] : [picture])]
  const body = {
    model,
    input: [{ role: 'user', content }],
    ...(tools && { tools: tools.map((name) => ({ type: 'function', name, parameters: anyObject, strict: false })) }),
    ...(schema && { text: { format: { type: 'json_schema', name: 'answer', schema, strict: true } } }),
    ...(thinks && { reasoning: { effort: 'low', summary: 'auto' } }),
  }
  const answer = stream
    ? await openai.responses.stream(body as never).finalResponse()
    : await openai.responses.create(body as unknown as OpenAI.Responses.ResponseCreateParamsNonStreaming)
  if (answer.status === 'failed') throw new Error(answer.error?.message)
  return learnedFromResponse(answer as OpenAI.Responses.Response)
}

function learnedFromResponse({ output, usage, incomplete_details }: OpenAI.Responses.Response): Learned {
  const said = output.flatMap((item) => (item.type === 'message' ? item.content : []))
  const thoughts = output.flatMap((item) =>
    item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])] : [],
  )
  const calls = output.flatMap((item): LearnedCall[] => {
    if (item.type === 'function_call')
      return [{ id: item.call_id, name: item.name, input: parsedInput(item.arguments) }]
    return item.type === 'custom_tool_call' ? [{ id: item.call_id, name: item.name, input: item.input }] : []
  })
  const ended = calls.length > 0 ? 'tool-calls' : said.some(({ type }) => type === 'refusal') ? 'refusal' : 'stop'
  const cut: Readonly<Record<string, Learned['end']>> = {
    max_output_tokens: 'length',
    content_filter: 'content-filter',
  }
  return {
    text: said.map((part) => (part.type === 'output_text' ? part.text : part.refusal)).join(''),
    thought: thoughts.map(({ text }) => text).join(''),
    calls,
    end: incomplete_details?.reason ? (cut[incomplete_details.reason] ?? 'other') : ended,
    usage: usage && {
      prompt: usage.input_tokens,
      completion: usage.output_tokens,
      cached: usage.input_tokens_details.cached_tokens,
      reasoning: usage.output_tokens_details.reasoning_tokens,
    },
  }
}

async function askMessages({ anthropic }: Clients, { model, text, tools, stream, image, schema, thinks }: Asked) {
  const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: image } }
  const body = {
    model,
    max_tokens: 4000,
    messages: [{ role: 'user', content: [...(image === undefined ? [] : [picture]), { type: 'text', text }] }],
    ...(tools && { tools: tools.map((name) => ({ name, input_schema: anyObject })) }),
    ...(schema && { output_config: { format: { type: 'json_schema', schema } } }),
    ...(thinks && { thinking: { type: 'enabled', budget_tokens: 1024 } }),
  }
  const { content, stop_reason, usage } = stream
    ? await anthropic.messages.stream(body as never).finalMessage()
    : await anthropic.messages.create(body as unknown as Anthropic.MessageCreateParamsNonStreaming)
  const ends: Readonly<Record<string, End>> = {
    end_turn: 'stop',
    stop_sequence: 'stop-sequence',
    max_tokens: 'length',
    tool_use: 'tool-calls',
    refusal: 'refusal',
    pause_turn: 'pause',
  }
  const cached = usage.cache_read_input_tokens ?? 0
  const details = (usage as { output_tokens_details?: { thinking_tokens?: number } | null }).output_tokens_details
  return {
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    thought: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    calls: content.flatMap((block) =>
      block.type === 'tool_use' ? [{ id: block.id, name: block.name, input: block.input }] : [],
    ),
    end: ends[stop_reason ?? ''] ?? 'other',
    usage: {
      prompt: usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0),
      completion: usage.output_tokens,
      cached,
      reasoning: details?.thinking_tokens ?? 0,
    },
  }
}

async function askGemini({ google }: Clients, { model, text, tools, stream, image, schema, thinks }: Asked) {
  const picture = { inlineData: { mimeType: 'image/png', data: image } }
  const request = {
    model,
    contents: [{ role: 'user', parts: [{ text }, ...(image === undefined ? [] : [picture])] }],
    config: {
      ...(tools && {
        tools: [{ functionDeclarations: tools.map((name) => ({ name, parametersJsonSchema: anyObject })) }],
      }),
      ...(schema && { responseMimeType: 'application/json', responseJsonSchema: schema }),
      ...(thinks && { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } }),
    },
  }
  const learned: Learned = { text: '', thought: '', calls: [], end: 'other', usage: undefined }
  if (stream) {
    let isEnded = false
    for await (const chunk of await google.models.generateContentStream(request as never)) {
      addGemini(chunk, learned)
      isEnded ||= Boolean(chunk.candidates?.[0]?.finishReason ?? chunk.promptFeedback?.blockReason)
    }
    // The SDK accepts a closed connection as the end of the stream. Only a finish reason marks a complete answer.
    if (!isEnded) throw new Error('the stream ended without a reason')
  } else addGemini(await google.models.generateContent(request as never), learned)
  if (learned.end === 'stop' && learned.calls.length > 0) learned.end = 'tool-calls'
  return learned
}

function addGemini({ candidates, usageMetadata, promptFeedback }: GenerateContentResponse, learned: Learned): void {
  const candidate = candidates?.find(({ index = 0 }) => index === 0)
  for (const { text = '', thought, functionCall } of candidate?.content?.parts ?? []) {
    if (thought) learned.thought += text
    else learned.text += text
    if (functionCall)
      learned.calls.push({ id: functionCall.id, name: functionCall.name ?? '', input: functionCall.args })
  }
  const ends: Readonly<Record<string, End>> = {
    STOP: 'stop',
    MAX_TOKENS: 'length',
    SAFETY: 'content-filter',
    RECITATION: 'content-filter',
    BLOCKLIST: 'content-filter',
    PROHIBITED_CONTENT: 'content-filter',
  }
  if (candidate?.finishReason) learned.end = ends[candidate.finishReason] ?? 'other'
  if (promptFeedback?.blockReason) learned.end = 'content-filter'
  if (!usageMetadata) return
  const { promptTokenCount = 0, candidatesTokenCount = 0, thoughtsTokenCount = 0 } = usageMetadata
  learned.usage = {
    prompt: promptTokenCount + (usageMetadata.toolUsePromptTokenCount ?? 0),
    completion: candidatesTokenCount + thoughtsTokenCount,
    cached: usageMetadata.cachedContentTokenCount ?? 0,
    reasoning: thoughtsTokenCount,
  }
}
