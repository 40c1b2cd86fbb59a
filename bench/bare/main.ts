// A minimal gateway on Bun: it forwards requests to one upstream and does nothing else. The real gateway cannot cost
// less than this one. Its figures also show how fast the machine currently is.
const upstream = process.argv[2] ?? ''

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  async fetch(request) {
    const response = await fetch(upstream + new URL(request.url).pathname, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer bench-key' },
      body: await request.arrayBuffer(),
    })
    const type = response.headers.get('content-type') ?? ''
    const headers = { 'content-type': type }
    if (!type.startsWith('text/event-stream')) return new Response(await response.arrayBuffer(), { headers })
    return new Response(passedOn(response.body) as unknown as ReadableStream, { headers })
  },
})

/** Forwards the body with back-pressure, as the real gateway forwards streams. */
async function* passedOn(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  for await (const piece of body ?? []) yield piece
}

console.log(JSON.stringify({ port: server.port }))
