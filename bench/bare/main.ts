// A minimal gateway on this runtime: it passes calls to one upstream and does nothing else. Its cost is the lower bound
// for the real gateway, and shows how fast the machine is at the moment.
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

/** Passes the body on with back-pressure, as the gateway does for its streams. */
async function* passedOn(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  for await (const piece of body ?? []) yield piece
}

console.log(JSON.stringify({ port: server.port }))
