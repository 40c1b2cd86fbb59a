import { isObject, type JsonObject } from '../../../server/lib/json.ts'
import { expectedCharge } from '../../sdk/support/prices.ts'
import { type End, nothing, parsedInput, type Recorded, type WireReader } from './learned.ts'
import { objects } from './read-chat.ts'

const object = (value: unknown): JsonObject => (isObject(value) ? value : {})
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const parsed = (data: readonly string[]) =>
  data.filter((each) => each.trim() !== '' && each !== '[DONE]').map((each) => JSON.parse(each) as JsonObject)

const ends: Readonly<Record<string, End>> = {
  stop: 'stop',
  normal: 'stop',
  length: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  sensitive: 'content-filter',
}

function count(learned: Recorded, usage: JsonObject): void {
  const { prompt, completion, cached, reasoning, quota } = expectedCharge(usage)
  learned.usage = { prompt, completion, cached, reasoning }
  learned.quota = quota
}

/** Baidu ERNIE: at most one call, and a token total that grows from event to event. */
export const readErnie: WireReader = {
  whole: (body) => readErnieEvents([body]),
  stream: (data) => readErnieEvents(parsed(data)),
}

function readErnieEvents(events: readonly JsonObject[]): Recorded {
  const learned = { ...nothing(), end: 'stop' as End }
  for (const { result, function_call, usage } of events) {
    learned.text += text(result)
    const { name, arguments: input, thoughts } = object(function_call)
    if (name) {
      learned.calls.push({ id: undefined, name: text(name), input: parsedInput(text(input)) })
      learned.thought += text(thoughts)
      learned.end = 'tool-calls'
    }
    const { prompt_tokens, total_tokens } = object(usage)
    if (typeof prompt_tokens === 'number' && typeof total_tokens === 'number')
      count(learned, { prompt_tokens, completion_tokens: total_tokens - prompt_tokens })
  }
  return learned
}

/** Tencent Hunyuan, whose field names are capitalised. */
export const readHunyuan: WireReader = {
  whole: (body) => readHunyuanAnswers([object(body['Response'])]),
  stream: (data) => readHunyuanAnswers(parsed(data)),
}

function readHunyuanAnswers(answers: readonly JsonObject[]): Recorded {
  const learned = nothing()
  const inputs = new Map<string, string>()
  for (const { Choices, Usage } of answers) {
    const [choice = {}] = objects(Choices)
    const said = object(choice['Message'] ?? choice['Delta'])
    learned.text += text(said['Content'])
    learned.thought += text(said['ReasoningContent'])
    for (const { Id, Function: called } of objects(said['ToolCalls'])) {
      const { Name, Arguments } = object(called)
      const id = text(Id)
      if (!inputs.has(id)) learned.calls.push({ id: id || undefined, name: text(Name), input: {} })
      inputs.set(id, (inputs.get(id) ?? '') + text(Arguments))
    }
    if (choice['FinishReason']) learned.end = ends[text(choice['FinishReason'])] ?? 'other'
    if (isObject(Usage))
      count(learned, { prompt_tokens: Usage['PromptTokens'], completion_tokens: Usage['CompletionTokens'] })
  }
  for (const call of learned.calls) call.input = parsedInput(inputs.get(call.id ?? '') ?? '')
  return learned
}

/** Alibaba's DashScope, whose events contain either the new text or the whole text so far. */
export const readDashscope: WireReader = {
  whole: (body) => readDashscopeEvents([body]),
  stream: (data) => readDashscopeEvents(parsed(data)),
}

const grown = (before: string, more: string) => (before !== '' && more.startsWith(before) ? more : before + more)

function readDashscopeEvents(events: readonly JsonObject[]): Recorded {
  const learned = nothing()
  const inputs: string[] = []
  for (const { output, usage } of events) {
    const { choices, text: plain, finish_reason } = object(output)
    const [choice = { message: { content: plain }, finish_reason }] = objects(choices)
    const { content, reasoning_content, tool_calls } = object(choice['message'])
    const said =
      typeof content === 'string'
        ? content
        : objects(content)
            .map((part) => text(part['text']))
            .join('')
    learned.text = grown(learned.text, said)
    learned.thought = grown(learned.thought, text(reasoning_content))
    for (const [at, call] of objects(tool_calls).entries()) {
      const index = typeof call['index'] === 'number' ? call['index'] : at
      const { name, arguments: input } = object(call['function'])
      learned.calls[index] ??= { id: text(call['id']) || undefined, name: '', input: {} }
      const known = learned.calls[index]
      known.name = grown(known.name, text(name))
      inputs[index] = grown(inputs[index] ?? '', text(input))
    }
    const reason = text(choice['finish_reason'])
    if (reason !== '' && reason !== 'null') learned.end = ends[reason] ?? 'other'
    if (isObject(usage) && usage['input_tokens'] !== undefined) count(learned, dashscopeUsage(usage))
  }
  for (const [index, call] of learned.calls.entries()) call.input = parsedInput(inputs[index] ?? '')
  return learned
}

function dashscopeUsage(usage: JsonObject): JsonObject {
  const parts = object(usage['input_tokens_details'])
  return {
    prompt_tokens: usage['input_tokens'],
    completion_tokens: usage['output_tokens'],
    prompt_tokens_details: {
      cached_tokens: object(usage['prompt_tokens_details'])['cached_tokens'],
      image_tokens: parts['image_tokens'] ?? usage['image_tokens'],
      audio_tokens: parts['audio_tokens'] ?? usage['audio_tokens'],
    },
    completion_tokens_details: object(usage['output_tokens_details']),
  }
}

/** Zhipu's third format, with JSON text inside the JSON. */
export const readZhipu: WireReader = {
  whole({ data }) {
    const [choice = {}] = objects(object(data)['choices'])
    const content = text(choice['content'])
    const learned = { ...nothing(), end: 'stop' as End, text: content.replace(/^"|"$/g, '').replaceAll('\\n', '\n') }
    count(learned, object(object(data)['usage']))
    return learned
  },
  stream: () => nothing(),
}

/** Google's PaLM 2, which reports no usage. */
export const readPalm: WireReader = {
  whole: ({ candidates }) => ({ ...nothing(), end: 'stop', text: text(objects(candidates)[0]?.['content']) }),
  stream: () => nothing(),
}

/** Frames of iFlytek Spark's WebSocket. */
export const readSpark: WireReader = {
  whole: (body) => readFrames([body]),
  stream: (data) => readFrames(parsed(data)),
}

function readFrames(frames: readonly JsonObject[]): Recorded {
  const learned = { ...nothing(), end: 'stop' as End }
  for (const { choices, usage } of frames.map(({ payload }) => object(payload))) {
    for (const { content, reasoning_content, function_call } of objects(object(choices)['text'])) {
      learned.text += text(content)
      learned.thought += text(reasoning_content)
      const { name, arguments: input } = object(function_call)
      if (!name) continue
      learned.calls.push({ id: undefined, name: text(name), input: parsedInput(text(input)) })
      learned.end = 'tool-calls'
    }
    const counts = object(object(usage)['text'])
    if (counts['total_tokens'] !== undefined) count(learned, counts)
  }
  return learned
}
