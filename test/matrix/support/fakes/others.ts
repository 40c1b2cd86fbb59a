import type { JsonObject } from '../../../../server/lib/json.ts'
import { asksToStream, events, type Fake, halves, used } from './fake.ts'
import { chatFake } from './openai.ts'

const noThoughts = { reasoning: 'the service shows no thoughts' }

/** Coze's bots, which always stream. */
export const cozeFake: Fake = {
  streams: () => true,
  whole: () => ({}),
  pieces({ thought, text }) {
    const said = (event: string, data: object) => `event:${event}\ndata:${JSON.stringify(data)}\n\n`
    const answer = { id: 'm1', chat_id: 'c1', role: 'assistant', type: 'answer', content_type: 'text' }
    const delta = (more: object) => said('conversation.message.delta', { ...answer, content: '', ...more })
    const usage = {
      token_count: used.prompt + used.completion,
      input_count: used.prompt,
      output_count: used.completion,
    }
    return [
      said('conversation.chat.created', { id: 'c1', status: 'created' }),
      ...halves(thought).map((reasoning_content) => delta({ reasoning_content })),
      ...halves(text).map((content) => delta({ content })),
      said('conversation.message.completed', { ...answer, content: text }),
      said('conversation.chat.completed', { id: 'c1', status: 'completed', usage }),
      said('done', {}),
    ]
  },
  refusal: (status, message) => ({
    status: 200,
    body: { code: status === 429 ? 4009 : 4000, msg: message },
    means: status,
  }),
}

/** DeepL. Its translations are treated as answers of a model. */
export const deeplFake: Fake = {
  cannot: noThoughts,
  countsNothing: true,
  streams: () => false,
  whole: ({ text }) => ({ translations: [{ detected_source_language: 'EN', text }] }),
  pieces: () => [],
  refusal: (status, message) => ({ status, body: { message } }),
}

/** Replicate's predictions, which finish when they are polled. */
export const replicateFake: Fake = {
  cannot: noThoughts,
  streams: ({ path }) => path.startsWith('/stream/'),
  whole: ({ text }) => ({
    id: 'p1',
    status: 'succeeded',
    created_at: '2026-01-01T00:00:00Z',
    output: halves(text),
    metrics: { input_token_count: used.prompt, output_token_count: used.completion },
    urls: { get: 'https://api.replicate.com/v1/predictions/p1', stream: 'https://stream.replicate.com/stream/p1' },
  }),
  pieces: ({ text }) => [
    ...halves(text).map((each) => `event: output\nid: 1\ndata: ${each}\n\n`),
    'event: done\nid: 2\ndata: {}\n\n',
  ],
  refusal: (status, message) => ({ status, body: { title: 'refused', status, detail: message } }),
}

/** AI Proxy's knowledge bases. */
export const libraryFake: Fake = {
  cannot: noThoughts,
  countsNothing: true,
  streams: asksToStream,
  whole: ({ text }) => ({ success: true, answer: text, documents: [], model: 'served-model' }),
  pieces: ({ text }) =>
    events(...halves(text).map((content) => ({ content, finish: false, model: 'served-model' })), {
      content: '',
      finish: true,
      model: 'served-model',
      documents: [],
    }),
  refusal: (status, message) => ({ status, body: { message } }),
}

/** watsonx.ai: OpenAI's chat with other field names, two endpoints and no end marker. */
export const watsonxFake: Fake = {
  streams: ({ path }) => path.endsWith('/chat_stream'),
  whole(said) {
    const { model: model_id, ...answer } = chatFake.whole(said) as JsonObject
    return { ...answer, model_id, model_version: '1.0.0' }
  },
  pieces: (said) =>
    (chatFake.pieces(said) as string[])
      .slice(0, -1)
      .map((event, at) => `id: ${at + 1}\nevent: message\n${event.replace('"model":', '"model_id":')}`),
  refusal: (status, message) => ({
    status,
    body: {
      errors: [{ code: status === 429 ? 'rate_limit_exceeded' : 'invalid_request_entity', message }],
      trace: 'trace-1',
      status_code: status,
    },
  }),
}
