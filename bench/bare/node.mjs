// The minimal gateway of `main.ts` on Node, for comparing the runtimes. It forwards requests with node:http or with
// fetch: node bench/bare/node.mjs <upstream> [http|fetch]
import { Agent, createServer, request as requestOf } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

const [upstream = '', way = 'http'] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
const headers = { 'content-type': 'application/json', authorization: 'Bearer bench-key' }

async function bodyOf(message) {
  const pieces = []
  for await (const piece of message) pieces.push(piece)
  return pieces.length === 1 ? pieces[0] : Buffer.concat(pieces)
}

function byHttp(path, body) {
  return new Promise((resolve, reject) => {
    const length = { 'content-length': body.length }
    const sent = requestOf(upstream + path, { method: 'POST', agent, headers: { ...headers, ...length } }, resolve)
    sent.on('error', reject).end(body)
  })
}

async function byFetch(path, body) {
  const response = await fetch(upstream + path, { method: 'POST', headers, body })
  const stream = response.body ? Readable.fromWeb(response.body) : Readable.from([])
  return Object.assign(stream, { headers: Object.fromEntries(response.headers) })
}

const server = createServer((incoming, outgoing) => {
  // Fails if the client disconnects, which may happen at any time.
  serve(incoming, outgoing).catch(() => outgoing.destroy())
})

async function serve(incoming, outgoing) {
  const body = await bodyOf(incoming)
  const answer = await (way === 'fetch' ? byFetch : byHttp)(incoming.url, body)
  const type = answer.headers['content-type'] ?? ''
  if (type.startsWith('text/event-stream')) {
    outgoing.writeHead(200, { 'content-type': type })
    await pipeline(answer, outgoing)
    return
  }
  const whole = await bodyOf(answer)
  outgoing.writeHead(200, { 'content-type': type, 'content-length': whole.length }).end(whole)
}

server.keepAliveTimeout = 0
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })))
