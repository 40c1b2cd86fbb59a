const WORDS = (
  'the of and to in that is was for with as his on be at by this had not are but from or have an they which one you ' +
  'were all her she there would their we him been has when who will no more if out so up said what its about than into ' +
  'them can only other time new some could these two may first then do any like my now over such our man me even most made'
).split(' ')

/** A plain chat response of about 1.4 KB. */
export const PLAIN = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'gpt-4o-mini-2024-07-18',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: words(170), refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 200, completion_tokens: 170, total_tokens: 370 },
  service_tier: 'default',
  system_fingerprint: 'fp_bench',
})

/** The 32 events of a stream. The last two contain the usage and `[DONE]`. */
export const EVENTS: readonly string[] = [
  ...Array.from({ length: 30 }, (_, index) => event(delta(index))),
  event({ choices: [], usage: { prompt_tokens: 200, completion_tokens: 30, total_tokens: 230 } }),
  'data: [DONE]\n\n',
]

/** The response of `EVENTS` as 32 events of Anthropic's Messages API. */
export const MESSAGE_EVENTS: readonly string[] = [
  messageEvent('message_start', {
    message: {
      id: 'msg_bench',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5-20250929',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 200, output_tokens: 1 },
    },
  }),
  messageEvent('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  ...Array.from({ length: 27 }, (_, index) =>
    messageEvent('content_block_delta', { index: 0, delta: { type: 'text_delta', text: ` ${words(1, index)}` } }),
  ),
  messageEvent('content_block_stop', { index: 0 }),
  messageEvent('message_delta', {
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { input_tokens: 200, output_tokens: 30 },
  }),
  messageEvent('message_stop', {}),
]

/** One content event, repeated by the slow and the endless streams. */
export const CONTENT_EVENT = event(delta(1))

/** The end of a slow stream. */
export const LAST_EVENTS = EVENTS.slice(29).join('')

/** About 16 KB of events. */
export const BURST = CONTENT_EVENT.repeat(Math.ceil(16_384 / CONTENT_EVENT.length))

/**
 * The kind of response that a request wants. The model name selects it, because every gateway passes the model name on.
 */
export type Wanted = 'plain' | 'stream' | 'messages' | 'each' | 'paced' | 'slow' | 'endless'

/** Reads the model and the stream flag from the first bytes of a body, without parsing it. */
export function wanted(bodyStart: string): Wanted {
  if (!/"stream"\s*:\s*true/.test(bodyStart)) return 'plain'
  const model = /"model"\s*:\s*"([^"]*)"/.exec(bodyStart)?.[1]
  if (model?.startsWith('claude')) return 'messages'
  if (model === 'gpt-4') return 'each'
  if (model === 'gpt-4o') return 'paced'
  if (model === 'gpt-4-turbo') return 'slow'
  if (model === 'gpt-3.5-turbo') return 'endless'
  return 'stream'
}

function delta(index: number) {
  const content = index === 0 ? '' : ` ${words(1, index)}`
  return { choices: [{ index: 0, delta: { content }, logprobs: null, finish_reason: index === 29 ? 'stop' : null }] }
}

function event(part: object): string {
  const head = {
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'gpt-4o-mini-2024-07-18',
  }
  return `data: ${JSON.stringify({ ...head, system_fingerprint: 'fp_bench', ...part })}\n\n`
}

function messageEvent(type: string, rest: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`
}

/** Ordinary words, the same on every run. */
export function words(count: number, from = 0): string {
  return Array.from(
    { length: count },
    (_, index) => WORDS[((from + index) * 7 + ((from + index) >> 3)) % WORDS.length],
  ).join(' ')
}
