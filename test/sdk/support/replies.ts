import { type Behaviour, behaviour } from '../../helpers/fake-upstream.ts'

/** Responds with JSON. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Behaviour {
  return answer(JSON.stringify(body), { 'content-type': 'application/json', ...headers }, status)
}

/** Responds with these bytes. */
export function answer(body: string | Uint8Array, headers: Record<string, string>, status = 200): Behaviour {
  return behaviour('answer', async (exchange) => {
    exchange.head(status, Object.entries(headers))
    if (await exchange.write(body)) exchange.end()
  })
}

/** Streams these events, including `[DONE]` if it is given. */
export function events(...data: unknown[]): Behaviour {
  return behaviour('events', async (exchange) => {
    exchange.head(200, [['content-type', 'text/event-stream; charset=utf-8']])
    for (const one of data) {
      const text = typeof one === 'string' ? one : JSON.stringify(one)
      if (!(await exchange.write(`data: ${text}\n\n`))) return
    }
    exchange.end()
  })
}

const usage = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 }

/** A complete chat answer with one choice. */
export function chatReply(message: Record<string, unknown>, finish_reason = 'stop'): unknown {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_760_000_000,
    model: 'gpt-4o-mini-2024-07-18',
    system_fingerprint: 'fp_1',
    choices: [{ index: 0, message: { role: 'assistant', refusal: null, ...message }, logprobs: null, finish_reason }],
    usage,
  }
}

/** One chunk of a chat stream. */
export function chunk(delta: Record<string, unknown>, finish_reason: string | null = null): unknown {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason }]
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'gpt-4o-mini', choices }
}

/** The event that `include_usage` requests. */
export const usageChunk = { ...(chunk({}) as object), choices: [], usage }
