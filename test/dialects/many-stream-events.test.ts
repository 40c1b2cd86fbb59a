import { expect, test } from 'bun:test'
import type { StreamEvent } from '../../server/dialects/neutral/reply.ts'
import type { JsonObject } from '../../server/lib/json.ts'
import { dataOf, decodeAll, dialects, encodeAll, frameOf } from '../helpers/dialects.ts'

// Each test handles one upstream answer with this many events within this time limit in milliseconds. The work must
// grow with the answer's length, not with its square.
const many = 100_000
const inTime = 20_000
const chunk = (delta: JsonObject) => JSON.stringify({ id: 'c', model: 'up', choices: [{ index: 0, delta }] })
const idAt = (at: number) => `call-${at}`
const partsOf = (events: readonly StreamEvent[]) => events.flatMap((event) => (event.type === 'part' ? [event] : []))

test(
  'very many calls without an index are matched by their ids',
  () => {
    const begun = Array.from({ length: many }, (_, at) =>
      chunk({ tool_calls: [{ id: idAt(at), function: { name: 'weather', arguments: '' } }] }),
    )
    const more = Array.from({ length: many }, (_, at) =>
      chunk({ tool_calls: [{ id: idAt(at), function: { arguments: '{}' } }] }),
    )
    const events = decodeAll(dialects['openai-chat'], [...begun, ...more, '[DONE]'])
    expect(partsOf(events).length).toBe(many)
    const deltas = events.flatMap((event) => (event.type === 'delta' ? [event.index] : []))
    expect(deltas.length).toBe(many)
    expect(deltas.every((index, at) => index === at)).toBe(true)
  },
  inTime,
)

test(
  'very many signatures are matched to their calls',
  () => {
    const calls = Array.from({ length: many }, (_, index) => ({
      index,
      id: idAt(index),
      function: { name: 'weather', arguments: '{}' },
    }))
    const details = calls.map(({ id }) => ({ type: 'reasoning.encrypted', format: 'google-gemini-v1', id, data: id }))
    const data = [chunk({ tool_calls: calls }), chunk({ reasoning_details: details }), '[DONE]']
    const sealed = decodeAll(dialects['openai-chat'], data).flatMap((event) =>
      event.type === 'detail' ? [[event.index, event.detail.seal?.value] as const] : [],
    )
    expect(sealed.length).toBe(many)
    expect(sealed.every(([index, value], at) => index === at && value === idAt(at))).toBe(true)
  },
  inTime,
)

for (const to of ['openai-chat', 'openai-responses'] as const) {
  test(
    `very many citations that arrive one by one are all sent at the end in ${to}`,
    () => {
      const first = [{ url: 'https://example.org/first' }]
      const at = { choice: 0, index: 0 } as const
      const cited = Array.from({ length: many }, (_, number): StreamEvent => {
        return { type: 'detail', ...at, detail: { citations: [{ url: `https://example.org/${number}` }] } }
      })
      const written = encodeAll(
        dialects[to],
        [
          { type: 'part', ...at, part: { type: 'text', text: 'Hi', citations: first } },
          ...cited,
          { type: 'part-end', ...at },
          { type: 'stop', choice: 0, stop: { reason: 'stop' } },
          { type: 'end' },
        ],
        frameOf(to),
      )
      const whole = dataOf(written).filter((data) => data.includes('"annotations":[{'))
      const count = whole.at(-1)?.split('"url_citation","').length ?? 0
      expect(count - 1).toBe(many + 1)
      // The input objects belong to the events, so the encoder must not change them.
      expect(first).toEqual([{ url: 'https://example.org/first' }])
    },
    inTime,
  )
}
