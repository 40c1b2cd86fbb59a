import type { JsonObject } from '../../../../server/lib/json.ts'
import { awsFrame, converseFrame } from '../../../helpers/aws-frames.ts'
import { anthropicEvents, messagesFake } from './anthropic.ts'
import { asksToStream, events, type Fake, halves, type Said, used } from './fake.ts'

const awsRefusal: Fake['refusal'] = (status, message) => ({
  status,
  body: { __type: status === 429 ? 'ThrottlingException' : 'ValidationException', message },
})
const awsStream = 'application/vnd.amazon.eventstream'
const counted = {
  inputTokens: used.prompt,
  outputTokens: used.completion,
  totalTokens: used.prompt + used.completion,
}

/** Bedrock's Converse. */
export const converseFake: Fake = {
  streams: ({ path }) => path.endsWith('/converse-stream'),
  whole: (said) => ({
    output: { message: { role: 'assistant', content: converseBlocks(said) } },
    stopReason: said.calls.length > 0 ? 'tool_use' : 'end_turn',
    usage: counted,
    metrics: { latencyMs: 1 },
  }),
  streamType: awsStream,
  pieces: (said) => [
    converseFrame('messageStart', { role: 'assistant' }),
    ...converseBlocks(said).flatMap(converseFrames),
    converseFrame('messageStop', { stopReason: said.calls.length > 0 ? 'tool_use' : 'end_turn' }),
    converseFrame('metadata', { usage: counted, metrics: { latencyMs: 1 } }),
  ],
  refusal: awsRefusal,
}

function converseBlocks({ thought, text, calls }: Said): JsonObject[] {
  return [
    ...(thought === '' ? [] : [{ reasoningContent: { reasoningText: { text: thought, signature: 'c2VhbA==' } } }]),
    ...(text === '' ? [] : [{ text }]),
    ...calls.map(({ id, name, input }) => ({ toolUse: { toolUseId: id, name, input } })),
  ]
}

function converseFrames({ text, toolUse, reasoningContent }: JsonObject, contentBlockIndex: number): Uint8Array[] {
  const delta = (value: JsonObject) => converseFrame('contentBlockDelta', { contentBlockIndex, delta: value })
  const stop = converseFrame('contentBlockStop', { contentBlockIndex })
  if (typeof text === 'string') return [...halves(text).map((each) => delta({ text: each })), stop]
  if (toolUse) {
    const { input, ...head } = toolUse as JsonObject
    const start = converseFrame('contentBlockStart', { contentBlockIndex, start: { toolUse: head } })
    const inputs = halves(JSON.stringify(input)).map((each) => delta({ toolUse: { input: each } }))
    return [start, ...inputs, stop]
  }
  const { text: thought, signature } = (reasoningContent as JsonObject)['reasoningText'] as Record<string, string>
  const thoughts = halves(thought ?? '').map((each) => delta({ reasoningContent: { text: each } }))
  return [...thoughts, delta({ reasoningContent: { signature } }), stop]
}

/** Claude on Bedrock in Anthropic's dialect, inside AWS's frames. */
export const invokeFake: Fake = {
  ...messagesFake,
  streams: ({ path }) => path.endsWith('/invoke-with-response-stream'),
  streamType: awsStream,
  pieces: (said) =>
    anthropicEvents(said).map((event) =>
      awsFrame(
        { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' },
        JSON.stringify({ bytes: Buffer.from(JSON.stringify(event)).toString('base64') }),
      ),
    ),
  refusal: awsRefusal,
}

const cohereUsage = { tokens: { input_tokens: used.prompt, output_tokens: used.completion } }
const cohereReason = ({ calls }: Said) => (calls.length > 0 ? 'TOOL_CALL' : 'COMPLETE')

/** Cohere's Chat API, version 2. */
export const cohereFake: Fake = {
  streams: asksToStream,
  whole: (said) => {
    const { thought, text, calls } = said
    const content = [
      ...(thought === '' ? [] : [{ type: 'thinking', thinking: thought }]),
      ...(text === '' ? [] : [{ type: 'text', text }]),
    ]
    const tool_calls = calls.map(({ id, name, input }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
    }))
    const message = {
      role: 'assistant',
      ...(content.length > 0 && { content }),
      ...(calls.length > 0 && { tool_calls }),
    }
    return { id: 'c1', message, finish_reason: cohereReason(said), usage: cohereUsage }
  },
  pieces(said) {
    const { thought, text, calls } = said
    const block = (index: number, empty: JsonObject, deltas: JsonObject[]) => [
      { type: 'content-start', index, delta: { message: { content: empty } } },
      ...deltas.map((content) => ({ type: 'content-delta', index, delta: { message: { content } } })),
      { type: 'content-end', index },
    ]
    const thoughts = halves(thought).map((thinking) => ({ thinking }))
    const texts = halves(text).map((each) => ({ text: each }))
    return events(
      { type: 'message-start', id: 'c1', delta: { message: { role: 'assistant' } } },
      ...(thought === '' ? [] : block(0, { type: 'thinking', thinking: '' }, thoughts)),
      ...(text === '' ? [] : block(thought === '' ? 0 : 1, { type: 'text', text: '' }, texts)),
      ...calls.flatMap(({ id, name, input }, index) => [
        {
          type: 'tool-call-start',
          index,
          delta: { message: { tool_calls: { id, type: 'function', function: { name, arguments: '' } } } },
        },
        ...halves(JSON.stringify(input)).map((each) => ({
          type: 'tool-call-delta',
          index,
          delta: { message: { tool_calls: { function: { arguments: each } } } },
        })),
        { type: 'tool-call-end', index },
      ]),
      { type: 'message-end', delta: { finish_reason: cohereReason(said), usage: cohereUsage } },
    )
  },
  refusal: (status, message) => ({ status, body: { id: 'e1', message } }),
}

/** Ollama's native format: lines of JSON. */
export const ollamaFake: Fake = {
  streams: asksToStream,
  whole: (said) => ollamaLine({ content: said.text, thinking: said.thought, tool_calls: ollamaCalls(said) }, true),
  streamType: 'application/x-ndjson',
  pieces: (said) => {
    const lines = [
      ...halves(said.thought).map((thinking) => ollamaLine({ content: '', thinking }, false)),
      ...halves(said.text).map((content) => ollamaLine({ content }, false)),
      ...(said.calls.length > 0 ? [ollamaLine({ content: '', tool_calls: ollamaCalls(said) }, false)] : []),
      ollamaLine({ content: '' }, true),
    ]
    return lines.map((line) => `${JSON.stringify(line)}\n`)
  },
  refusal: (status, message) => ({ status, body: { error: message } }),
}

function ollamaCalls({ calls }: Said): JsonObject[] {
  return calls.map(({ name, input }) => ({ function: { name, arguments: input } }))
}

function ollamaLine(said: JsonObject, done: boolean): JsonObject {
  return {
    model: 'served-model',
    created_at: '2026-01-01T00:00:00Z',
    message: { role: 'assistant', ...said },
    done,
    ...(done && { done_reason: 'stop', prompt_eval_count: used.prompt, eval_count: used.completion }),
  }
}
