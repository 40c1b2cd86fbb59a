import { describe, expect, test } from 'bun:test'
import { startFakeUpstream } from '../fake-upstream.ts'
import {
  listCases,
  listSequences,
  loadCase,
  type RecordingCase,
  type RecordingEntry,
  type RecordingFilter,
  recordingsAvailable,
  replay,
  sseData,
  startReplay,
  startWebSocketReplay,
} from '../recordings.ts'

function firstCase(filter: RecordingFilter): RecordingCase {
  const entry: RecordingEntry | undefined = listCases(filter)[0]
  if (!entry) throw new Error(`no case fits ${JSON.stringify(filter)}`)
  return loadCase(entry)
}

describe.skipIf(!recordingsAvailable)('recordings', () => {
  test('finds cases by a filter and reads them', () => {
    const cases = listCases({ provider: 'openai', api: 'chat', kind: 'sse', status: 'ok', features: ['tools'] })
    expect(cases.length).toBeGreaterThan(3)
    expect(cases.every(({ provider }) => provider === 'openai')).toBe(true)
    expect(listSequences({ provider: 'anthropic' }).length).toBeGreaterThan(0)
    for (const entry of listCases()) expect(loadCase(entry).response.body.length + entry.status).toBeGreaterThan(0)
  })

  test('replays every kind byte for byte, however it is split', async () => {
    for (const kind of ['json', 'sse', 'ndjson', 'eventstream', 'text', 'binary'] as const) {
      const recorded = listCases({ kind })
        .map(loadCase)
        .find(({ response }) => response.body.length < 8000)
      if (!recorded) throw new Error(`no small ${kind} case`)
      for (const chunking of ['whole', 'event', 'byte', 7] as const) {
        const upstream = await startReplay(recorded, { chunking })
        const response = await fetch(`${upstream.url}/v1/any?key=k`, { method: 'POST', body: '{"a":1}' })
        expect(response.status).toBe(recorded.response.status)
        expect(Buffer.from(await response.arrayBuffer()).equals(recorded.response.body)).toBe(true)
        expect(upstream.last.json).toEqual({ a: 1 })
        await upstream.close()
      }
    }
  })

  test('replays a sequence step by step, and frames over a WebSocket', async () => {
    const [sequence] = listSequences({ provider: 'openai' })
    if (!sequence) throw new Error('no sequence')
    await using upstream = await startReplay(sequence.cases)
    for (const id of sequence.cases) {
      const body = Buffer.from(await (await fetch(upstream.url)).arrayBuffer())
      expect(body.equals(loadCase(id).response.body)).toBe(true)
    }
    const [spark] = listCases({ kind: 'ws' })
    if (!spark) throw new Error('no WebSocket case')
    const server = startWebSocketReplay(spark)
    const got: string[] = []
    await new Promise<void>((resolve) => {
      const socket = new WebSocket(`${server.url}/v3.5/chat?authorization=x`)
      socket.onopen = () => socket.send('{"q":1}')
      socket.onmessage = (event) => got.push(String(event.data))
      socket.onclose = () => resolve()
    })
    expect(got.join('\n')).toBe(loadCase(spark).responseText.trim())
    expect(server.messages).toEqual(['{"q":1}'])
    await server.close()
  })

  test('returns the data of events', () => {
    expect(sseData(firstCase({ provider: 'openai', api: 'chat', kind: 'sse', status: 'ok' })).at(-1)).toBe('[DONE]')
  })

  test('can be mixed with other behaviours in one script', async () => {
    await using upstream = await startFakeUpstream()
    const recorded = firstCase({ provider: 'anthropic', status: 429 })
    upstream.forKey('key-1', replay(recorded))
    const headers = { 'x-api-key': 'key-1' }
    expect((await fetch(`${upstream.url}/v1/messages`, { method: 'POST', body: '{}', headers })).status).toBe(429)
    expect((await fetch(`${upstream.url}/v1/chat/completions`, { method: 'POST', body: '{}' })).status).toBe(200)
  })
})
