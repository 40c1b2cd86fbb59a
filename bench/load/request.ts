import { words } from '../mock/payloads.ts'
import type { Job } from './job.ts'

/** The bytes of the request that connection `index` of a job sends repeatedly: a conversation of ordinary words. */
export function requestBytes(job: Job, index = 0): Buffer {
  const key = job.keys?.[index % job.keys.length]
  const body = Buffer.from(bodyOf(job))
  const lines = Object.entries({
    ...job.headers,
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    'content-type': 'application/json',
    'content-length': String(body.length),
  })
  const head = [
    `POST ${job.path} HTTP/1.1`,
    `host: 127.0.0.1:${job.port}`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body])
}

function bodyOf(job: Job): string {
  const messages = [{ role: 'system', content: 'You are a helpful assistant.' }]
  const make = () =>
    JSON.stringify({ model: job.model, ...(job.stream ? { stream: true } : {}), temperature: 0.7, messages })
  for (let turn = 0; make().length < job.bodyBytes - 60; turn++) {
    const room = job.bodyBytes - make().length - 40
    const text = words(Math.ceil(Math.min(room, 4_000) / 4), turn * 131).slice(0, Math.min(room, 4_000))
    messages.push({ role: turn % 2 === 0 ? 'user' : 'assistant', content: text })
  }
  return make()
}
