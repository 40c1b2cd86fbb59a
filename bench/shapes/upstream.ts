/** Answers every request with the shortest valid response in the API format of the request. */
export function startUpstream(): { port: number; stop(): Promise<void> } {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    async fetch(request) {
      await request.arrayBuffer()
      return Response.json(answerAt(new URL(request.url).pathname))
    },
  })
  return { port: server.port ?? 0, stop: () => server.stop(true) }
}

const usage = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 }

function answerAt(path: string): object {
  if (path.endsWith('/messages')) {
    const content = [{ type: 'text', text: 'ok' }]
    const tokens = { input_tokens: 9, output_tokens: 1 }
    return { id: 'm', type: 'message', role: 'assistant', model: 'm', content, stop_reason: 'end_turn', usage: tokens }
  }
  if (path.endsWith('/responses')) {
    const content = [{ type: 'output_text', text: 'ok', annotations: [] }]
    const output = [{ id: 'i', type: 'message', role: 'assistant', status: 'completed', content }]
    const tokens = { input_tokens: 9, output_tokens: 1, total_tokens: 10 }
    return { id: 'r', object: 'response', model: 'm', status: 'completed', output, usage: tokens }
  }
  if (path.endsWith('/embeddings'))
    return { object: 'list', model: 'm', data: [{ object: 'embedding', index: 0, embedding: [0] }], usage }
  if (path.endsWith('/rerank')) return { results: [{ index: 0, relevance_score: 1 }], usage }
  const message = { role: 'assistant', content: 'ok' }
  return {
    id: 'c',
    object: 'chat.completion',
    model: 'm',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage,
  }
}
