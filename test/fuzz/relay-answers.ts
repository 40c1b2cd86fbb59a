import { type Behaviour, behaviour } from '../helpers/fake-upstream.ts'
import { badValue } from './bad-values.ts'
import { type Json, type Place, placesOf, written } from './json-places.ts'
import type { Random } from './random.ts'

/** A correct upstream response, and the call that gets it. */
interface Answer {
  path: string
  request: { readonly [name: string]: Json }
  status: number
  body: { readonly [name: string]: Json }
  /** True if the body is sent as one event of a stream, before the stream's proper end. */
  streamed: boolean
}

const messages = [{ role: 'user', content: 'hi' }]
const usage = {
  prompt_tokens: 8,
  completion_tokens: 4,
  total_tokens: 12,
  prompt_tokens_details: { cached_tokens: 2, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 1, audio_tokens: 0 },
}
const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
const chatRequest = { model: 'gpt-4o', messages }
const error = { message: 'no', type: 'invalid_request_error', param: null, code: 'bad' }

const answers: readonly Answer[] = [
  {
    path: '/v1/chat/completions',
    request: chatRequest,
    status: 200,
    streamed: false,
    body: {
      id: 'x',
      object: 'chat.completion',
      created: 1,
      model: 'gpt-4o',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'a', refusal: null, reasoning_content: 'r', tool_calls: [call] },
          finish_reason: 'stop',
        },
      ],
      usage,
      error: null,
    },
  },
  {
    path: '/v1/chat/completions',
    request: { ...chatRequest, stream: true },
    status: 200,
    streamed: true,
    body: {
      id: 'x',
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: { content: 'a', tool_calls: [{ index: 0, ...call }] }, finish_reason: null }],
      usage,
      error: null,
    },
  },
  ...[400, 401, 404, 429, 503].map((status) => ({
    path: '/v1/chat/completions',
    request: { ...chatRequest, stream: status === 429 },
    status,
    streamed: false,
    body: { error, message: 'm', msg: 'n', detail: 'd', code: 1 },
  })),
  {
    path: '/v1/embeddings',
    request: { model: 'text-embedding-3-small', input: 'hi' },
    status: 200,
    streamed: false,
    body: {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.1] }],
      usage: { prompt_tokens: 1, total_tokens: 1 },
    },
  },
  {
    path: '/v1/images/generations',
    request: { model: 'gpt-image-1', prompt: 'a' },
    status: 200,
    streamed: false,
    body: {
      created: 1,
      data: [{ url: 'u' }],
      usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3, input_tokens_details: { text_tokens: 1 } },
    },
  },
  {
    path: '/v1/completions',
    request: { model: 'gpt-3.5-turbo-instruct', prompt: 'hi' },
    status: 200,
    streamed: false,
    body: { choices: [{ index: 0, text: 'a', finish_reason: 'stop', logprobs: null }], usage, code: 0, message: '' },
  },
]

/** A response and the path in it at which the value is replaced. */
export interface AnswerTarget {
  answer: Answer
  place: Place
}

/** Every path in every response. */
export const answerTargets: readonly AnswerTarget[] = answers.flatMap((answer) =>
  placesOf(answer.body).map((place) => ({ answer, place })),
)

/** An upstream whose response has a bad value at that path. */
export function wrongAnswer({ answer, place }: AnswerTarget, random: Random): Behaviour {
  const text = written(answer.body, place, badValue(random))
  return behaviour('wrong answer', async (exchange) => {
    const type = answer.streamed ? 'text/event-stream' : 'application/json'
    exchange.head(answer.status, [['content-type', type]])
    await exchange.write(answer.streamed ? `data: ${text}\n\ndata: [DONE]\n\n` : text)
    exchange.end()
  })
}
