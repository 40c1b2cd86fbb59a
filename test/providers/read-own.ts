import { isObject, type JsonObject } from '../../server/lib/json.ts'
import { readFrames } from '../helpers/aws-frames.ts'
import { type RecordingCase, sseData } from '../helpers/recordings.ts'
import { type End, type LearnedCall, nothing, parsedInput, type Recorded } from '../matrix/support/learned.ts'
import { objects } from '../matrix/support/read-chat.ts'
import { readMessages } from '../matrix/support/read-messages.ts'

/** Readers for recorded answers in formats that no caller uses. They use none of the gateway's code. */
type Reader = (recording: RecordingCase) => Recorded

const object = (value: unknown): JsonObject => (isObject(value) ? value : {})
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const count = (value: unknown): number => (typeof value === 'number' ? value : 0)
const lines = ({ responseText }: RecordingCase) =>
  responseText
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as JsonObject)

/** Ollama's messages, one or several. In older versions, calls have no ids. */
export const readOllama: Reader = (recording) => {
  const learned = nothing()
  for (const wire of recording.kind === 'ndjson' ? lines(recording) : [object(recording.responseJson)]) {
    const message = object(wire['message'])
    learned.text += text(message['content'])
    learned.thought += text(message['thinking'])
    for (const call of objects(message['tool_calls'])) {
      const called = object(call['function'])
      learned.calls.push({ id: text(call['id']) || undefined, name: text(called['name']), input: called['arguments'] })
    }
    const reason = text(wire['done_reason'])
    if (wire['done'] === true)
      learned.end = learned.calls.length > 0 ? 'tool-calls' : reason === 'stop' ? 'stop' : 'other'
    if (typeof wire['prompt_eval_count'] === 'number') {
      const [prompt, completion] = [wire['prompt_eval_count'], count(wire['eval_count'])]
      learned.usage = { prompt, completion, cached: 0, reasoning: 0 }
    }
  }
  return learned
}

const cohereEnds: Readonly<Record<string, End>> = {
  COMPLETE: 'stop',
  STOP_SEQUENCE: 'stop-sequence',
  MAX_TOKENS: 'length',
  TOOL_CALL: 'tool-calls',
}

/** Cohere's messages and events. */
export const readCohere: Reader = (recording) => {
  const learned = nothing()
  const end = (wire: JsonObject) => {
    learned.end = cohereEnds[text(wire['finish_reason'])] ?? 'other'
    const usage = object(wire['usage'])
    const tokens = object(usage['tokens'])
    learned.usage = {
      prompt: count(tokens['input_tokens']) + count(tokens['image_tokens']),
      completion: count(tokens['output_tokens']),
      cached: count(usage['cached_tokens']),
      reasoning: count(tokens['reasoning_tokens']),
    }
  }
  if (recording.kind === 'json') {
    const wire = object(recording.responseJson)
    const message = object(wire['message'])
    learned.thought = text(message['tool_plan'])
    for (const block of objects(message['content'])) {
      learned.text += text(block['text'])
      learned.thought += text(block['thinking'])
    }
    for (const call of objects(message['tool_calls'])) {
      const called = object(call['function'])
      learned.calls.push({
        id: text(call['id']),
        name: text(called['name']),
        input: parsedInput(text(called['arguments'])),
      })
    }
    end(wire)
    return learned
  }
  const inputs: string[] = []
  for (const data of sseData(recording)) {
    if (data === '[DONE]') continue
    const event = JSON.parse(data) as JsonObject
    const delta = object(event['delta'])
    const message = object(delta['message'])
    const content = object(message['content'])
    const call = object(message['tool_calls'])
    const called = object(call['function'])
    learned.thought += text(message['tool_plan']) + text(content['thinking'])
    learned.text += text(content['text'])
    if (event['type'] === 'tool-call-start') {
      learned.calls.push({ id: text(call['id']), name: text(called['name']), input: undefined })
      inputs.push('')
    }
    if (inputs.length > 0) inputs[inputs.length - 1] += text(called['arguments'])
    if (event['type'] === 'message-end') end(delta)
  }
  learned.calls = learned.calls.map((call, at) => ({ ...call, input: parsedInput(inputs[at] ?? '') }))
  return learned
}

const converseEnds: Readonly<Record<string, End>> = {
  end_turn: 'stop',
  stop_sequence: 'stop-sequence',
  max_tokens: 'length',
  tool_use: 'tool-calls',
  guardrail_intervened: 'content-filter',
}

/** Bedrock's Converse, as JSON and in frames. */
export const readConverse: Reader = (recording) => {
  const learned = nothing()
  const use = (raw: unknown) => {
    const usage = object(raw)
    const cached = count(usage['cacheReadInputTokens'])
    const prompt = count(usage['inputTokens']) + cached + count(usage['cacheWriteInputTokens'])
    learned.usage = { prompt, completion: count(usage['outputTokens']), cached, reasoning: 0 }
  }
  if (recording.kind === 'json') {
    const wire = object(recording.responseJson)
    for (const block of objects(object(object(wire['output'])['message'])['content'])) {
      const cited = objects(object(block['citationsContent'])['content']).map((each) => text(each['text']))
      learned.text += text(block['text']) + cited.join('')
      learned.thought += text(object(object(block['reasoningContent'])['reasoningText'])['text'])
      const call = object(block['toolUse'])
      if (block['toolUse'] && call['type'] !== 'server_tool_use')
        learned.calls.push({ id: text(call['toolUseId']), name: text(call['name']), input: call['input'] })
    }
    learned.end = converseEnds[text(wire['stopReason'])] ?? 'other'
    use(wire['usage'])
    return learned
  }
  const inputs = new Map<unknown, { call: LearnedCall; json: string }>()
  for (const { event, payload } of readFrames(recording.response.body)) {
    const delta = object(payload['delta'])
    learned.text += text(delta['text'])
    learned.thought += text(object(delta['reasoningContent'])['text'])
    const started = object(object(payload['start'])['toolUse'])
    if (event === 'contentBlockStart' && started['name']) {
      const call = { id: text(started['toolUseId']), name: text(started['name']), input: {} as unknown }
      learned.calls.push(call)
      inputs.set(payload['contentBlockIndex'], { call, json: '' })
    }
    const open = inputs.get(payload['contentBlockIndex'])
    if (open) open.json += text(object(delta['toolUse'])['input'])
    if (event === 'messageStop') learned.end = converseEnds[text(payload['stopReason'])] ?? 'other'
    if (event === 'metadata') use(payload['usage'])
  }
  for (const { call, json } of inputs.values()) call.input = parsedInput(json)
  return learned
}

/** Claude invoked on Bedrock: Anthropic's messages, as JSON or in frames. */
export const readInvokedClaude: Reader = (recording) => {
  if (recording.kind === 'json') return readMessages.whole(object(recording.responseJson))
  const data = readFrames(recording.response.body).map(({ payload }) =>
    Buffer.from(text(payload['bytes']), 'base64').toString(),
  )
  return readMessages.stream(data)
}
