import type { JsonObject } from '../../../../server/lib/json.ts'
import { asksToStream, events, type Fake, halves, type Said, used } from './fake.ts'

const total = used.prompt + used.completion

/** Baidu ERNIE in its first version, which sends errors with status 200. */
export const ernieFake: Fake = {
  cannot: {
    'parallel tools': 'the service makes one call at a time',
    structured: 'the service can promise JSON, but not a schema',
    reasoning: 'the service shows thoughts only in its newer form',
  },
  streams: asksToStream,
  whole: (said) => ({ ...ernieAnswer(said), is_end: true }),
  pieces: (said) => {
    const texts = halves(said.text).map((result) => ({ id: 'as-1', result, is_end: false }))
    return events(...texts, { ...ernieAnswer({ ...said, text: '' }), is_end: true })
  },
  refusal: (status, message) => ({
    status: 200,
    body: { error_code: status === 429 ? 18 : 336_003, error_msg: message },
    means: status,
  }),
}

function ernieAnswer({ text, calls: [call] }: Said): JsonObject {
  return {
    id: 'as-1',
    object: 'chat.completion',
    created: 1_760_000_000,
    result: text,
    ...(call && {
      finish_reason: 'function_call',
      function_call: { name: call.name, arguments: JSON.stringify(call.input) },
    }),
    usage: { prompt_tokens: used.prompt, completion_tokens: used.completion, total_tokens: total },
  }
}

/** Tencent Hunyuan with Tencent Cloud's signature, which sends errors with status 200. */
export const hunyuanFake: Fake = {
  streams: ({ fields }) => fields['Stream'] === true,
  whole: (said) => ({ Response: hunyuanAnswer('Message', hunyuanMessage(said), hunyuanReason(said)) }),
  pieces: (said) =>
    events(
      ...halves(said.thought).map((ReasoningContent) =>
        hunyuanAnswer('Delta', { Role: 'assistant', ReasoningContent }),
      ),
      ...halves(said.text).map((Content) => hunyuanAnswer('Delta', { Role: 'assistant', Content })),
      ...(said.calls.length > 0 ? [hunyuanAnswer('Delta', hunyuanMessage({ ...said, text: '', thought: '' }))] : []),
      hunyuanAnswer('Delta', { Role: 'assistant', Content: '' }, hunyuanReason(said)),
    ),
  refusal: (status, message) => ({
    status: 200,
    body: {
      Response: {
        Error: { Code: status === 429 ? 'RequestLimitExceeded' : 'InvalidParameter', Message: message },
        RequestId: 'r1',
      },
    },
    means: status,
  }),
}

const hunyuanReason = ({ calls }: Said) => (calls.length > 0 ? 'tool_calls' : 'stop')

function hunyuanMessage({ thought, text, calls }: Said): JsonObject {
  const ToolCalls = calls.map(({ id, name, input }, Index) => ({
    Id: id,
    Type: 'function',
    Function: { Name: name, Arguments: JSON.stringify(input) },
    Index,
  }))
  return {
    Role: 'assistant',
    Content: text,
    ...(thought !== '' && { ReasoningContent: thought }),
    ...(calls.length > 0 && { ToolCalls }),
  }
}

function hunyuanAnswer(member: 'Message' | 'Delta', said: JsonObject, FinishReason = ''): JsonObject {
  return {
    Created: 1_760_000_000,
    Id: 'h1',
    Usage: { PromptTokens: used.prompt, CompletionTokens: used.completion, TotalTokens: total },
    Choices: [{ Index: 0, FinishReason, [member]: said }],
  }
}

/** Alibaba's DashScope in its native format. */
export const dashscopeFake: Fake = {
  streams: ({ headers }) => headers.get('x-dashscope-sse') === 'enable',
  whole: (said) => dashscopeAnswer(dashscopeMessage(said), said.calls.length > 0 ? 'tool_calls' : 'stop'),
  pieces: (said) =>
    events(
      ...halves(said.thought).map((reasoning_content) => dashscopeAnswer({ content: '', reasoning_content })),
      ...halves(said.text).map((content) => dashscopeAnswer({ content })),
      dashscopeAnswer(
        dashscopeMessage({ ...said, text: '', thought: '' }),
        said.calls.length > 0 ? 'tool_calls' : 'stop',
      ),
    ),
  refusal: (status, message) => ({
    status,
    body: { code: status === 429 ? 'Throttling.RateQuota' : 'InvalidParameter', message, request_id: 'd1' },
  }),
}

function dashscopeMessage({ thought, text, calls }: Said): JsonObject {
  const tool_calls = calls.map(({ id, name, input }, index) => ({
    index,
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }))
  return {
    role: 'assistant',
    content: text,
    ...(thought !== '' && { reasoning_content: thought }),
    ...(calls.length > 0 && { tool_calls }),
  }
}

function dashscopeAnswer(message: JsonObject, reason = 'null'): JsonObject {
  return {
    output: { choices: [{ finish_reason: reason, message: { role: 'assistant', ...message } }] },
    usage: { input_tokens: used.prompt, output_tokens: used.completion, total_tokens: total },
    request_id: 'd1',
  }
}

/** Zhipu's chatglm models in their former native format. */
export const zhipuFake: Fake = {
  cannot: { reasoning: 'the models of this form show no thoughts' },
  streams: ({ path }) => path.endsWith('/sse-invoke'),
  whole: ({ text }) => ({
    code: 200,
    success: true,
    msg: 'ok',
    data: {
      request_id: 'z1',
      task_id: 'z1',
      task_status: 'SUCCESS',
      choices: [{ role: 'assistant', content: JSON.stringify(text) }],
      usage: { prompt_tokens: used.prompt, completion_tokens: used.completion, total_tokens: total },
    },
  }),
  pieces({ text }) {
    const usage = { prompt_tokens: used.prompt, completion_tokens: used.completion, total_tokens: total }
    const meta = JSON.stringify({ request_id: 'z1', task_id: 'z1', task_status: 'SUCCESS', usage })
    const texts = halves(text).map((each) => `event:add\nid:z1\ndata:${each}\n\n`)
    return [...texts, `event:finish\nid:z1\ndata:\nmeta:${meta}\n\n`]
  },
  refusal: (status, message) => ({
    status: 200,
    body: { code: status === 429 ? 1302 : 1214, success: false, msg: message },
    means: status,
  }),
}

/** Frames of iFlytek Spark's WebSocket. */
function sparkFrames({ thought, text, calls: [call] }: Said): JsonObject[] {
  const frame = (status: number, said: JsonObject, usage?: JsonObject) => ({
    header: { code: 0, message: 'Success', sid: 's1', status },
    payload: { choices: { status, seq: 0, text: [{ role: 'assistant', index: 0, ...said }] }, ...usage },
  })
  const counts = { prompt_tokens: used.prompt, completion_tokens: used.completion, total_tokens: total }
  const last = call ? { content: '', function_call: { name: call.name, arguments: JSON.stringify(call.input) } } : {}
  return [
    ...halves(thought).map((each) => frame(1, { content: '', reasoning_content: each })),
    ...halves(text).map((content) => frame(1, { content })),
    frame(2, { content: '', ...last }, { usage: { text: counts } }),
  ]
}

/** iFlytek Spark, which sends each frame as a separate message. */
export const sparkFake: Fake = {
  cannot: { 'parallel tools': 'the service makes one call at a time' },
  streams: () => true,
  whole: () => ({}),
  pieces: (said) => sparkFrames(said).map((frame) => JSON.stringify(frame)),
  refusal: (status, message) => ({
    status: 200,
    body: { header: { code: status === 429 ? 11_202 : 10_003, message, sid: 's1', status: 2 } },
    means: status,
  }),
}
